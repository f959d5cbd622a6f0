package mcp

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestWhatAServerComplainsOfIsKept: the last 64 KiB and more, without secrets, over several starts.
func TestWhatAServerComplainsOfIsKept(t *testing.T) {
	p := pool(t, map[string]string{"fake": "banner; old"}, func(o *Options) {
		o.State = t.TempDir()
		o.Mask = func(s string) string { return strings.ReplaceAll(s, "hunter2", "[hidden]") }
		o.Servers[0].Command = append([]string{"sh", "-c", `printf 'the key is hun' >&2; printf 'ter2\n\033[31mred\n' >&2; exec "$@"`, "sh"}, o.Servers[0].Command...)
	})
	if _, err := says(t.Context(), t, p, "die"); err == nil {
		t.Fatal("it answered")
	}
	waitFor(t, func() bool { return p.States()[0].State == Failed })
	if _, err := says(t.Context(), t, p, "hello"); err != nil {
		t.Fatal(err)
	}
	text, file := p.Log("fake")
	for _, want := range []string{"the key is [hidden]\n[31mred\n", "Welcome to the server!\n", "[INFO] listening\n", "fake started as process ", "\nI die\n", "fake ended: exit code 4: I die"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	if last := p.LastWords("fake"); !strings.Contains(last, "the key is [hidden]\n[31mred") {
		t.Errorf("%q", last)
	}
	if strings.Contains(text, "hunter2") || strings.Count(text, "fake started") != 2 {
		t.Error(text)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	p.Forget("fake")
	if _, err := os.Stat(file); err == nil {
		t.Error("it is still there")
	}
}

func TestALogIsBounded(t *testing.T) {
	p := pool(t, map[string]string{"fake": "old; complain at initialize"}, func(o *Options) { o.State = t.TempDir() })
	if _, err := says(t.Context(), t, p, "hello"); err != nil {
		t.Fatal(err)
	}
	p.Close()
	text, file := p.Log("fake")
	info, err := os.Stat(file)
	if err != nil || info.Size() > maxLog+maxLogLine || len(text) < keptLog-2000 || !strings.HasPrefix(text, "complaint") {
		t.Errorf("%v, %v, %d bytes, %.30q", info, err, len(text), text)
	}
	if last := p.LastWords("fake"); len(last) < 1000 || len(last) > maxWords || strings.Contains(last, logMark) {
		t.Error(last)
	}
}

// TestWhatBecameOfAStartIsRemembered by the next run.
func TestWhatBecameOfAStartIsRemembered(t *testing.T) {
	state := t.TempDir()
	with := func(how string) *Pool {
		p := pool(t, map[string]string{"fake": "old"}, func(o *Options) {
			o.State = state
			o.Servers[0].Env = map[string]string{"HOW": how} // the names alone tell servers apart
			o.Servers[0].Command = append([]string{"sh", "-c", `[ "$HOW" = work ] && exec "$@"; echo "Error: no way" >&2; exit 5`, "sh"}, o.Servers[0].Command...)
		})
		return p
	}
	p := with("fail")
	if got := p.Untried(); len(got) != 1 {
		t.Errorf("%q", got)
	}
	_ = p.Await(t.Context(), "fake")
	p.Close()
	for fails, rests := range []time.Duration{time.Minute, 4 * time.Minute} {
		p = with("fail")
		if last := p.Last("fake"); !last.RetryAfter().Equal(last.Time.Add(rests)) {
			t.Errorf("failed %d times: %+v rests until %s", fails+1, last, last.RetryAfter())
		}
		_ = p.Await(t.Context(), "fake")
		p.Close()
	}
	p = with("work")
	if last := p.Last("fake"); last.State != Failed || !strings.Contains(last.Reason, "exit code 5: Error: no way") || len(p.Untried()) != 0 || len(p.Unseen()) != 1 {
		t.Errorf("%+v", last)
	}
	if err := p.Await(t.Context(), "fake"); err != nil {
		t.Error(err)
	}
	p.Close()
	if last := with("work").Last("fake"); last.State != Ready || last.Reason != "" || last.Fails != 0 {
		t.Errorf("%+v", last)
	}
}
