package run_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A server on this machine is reached where a rule names it, and by no mode alone.
func TestARuleOpensTheServerItNames(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "the page")
	}))
	t.Cleanup(s.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	for name, c := range map[string]struct {
		flags []string
		url   string
		want  string
		asked int64
	}{
		"named":                {[]string{"--allow", "network(" + s.URL + ")"}, s.URL, "webfetch completed", 1},
		"named, with yolo":     {[]string{"--permission-mode", "yolo", "--allow", "network(" + s.URL + ")"}, s.URL + "/x", "webfetch completed", 1},
		"localhost, by name":   {[]string{"--allow", "network(http://localhost:" + port + ")"}, "http://localhost:" + port, "webfetch completed", 1},
		"yolo alone":           {[]string{"--permission-mode", "yolo"}, s.URL, "webfetch failed denied", 0},
		"yolo and localhost":   {[]string{"--permission-mode", "yolo"}, "http://localhost:" + port, "webfetch failed denied", 0},
		"a rule for all":       {[]string{"--allow", "network"}, s.URL, "webfetch denied denied", 0},
		"yolo, a rule for all": {[]string{"--permission-mode", "yolo", "--allow", "network"}, s.URL, "webfetch failed denied", 0},
		"another port":         {[]string{"--permission-mode", "yolo", "--allow", "network(http://127.0.0.1:1)"}, s.URL, "webfetch failed denied", 0},
		"denied too":           {[]string{"--permission-mode", "yolo", "--allow", "network(" + s.URL + ")", "--deny", "network(127.0.0.1)"}, s.URL, "webfetch denied denied", 0},
		"metadata":             {[]string{"--permission-mode", "yolo"}, "http://169.254.169.254/latest", "webfetch failed denied", 0},
	} {
		t.Run(name, func(t *testing.T) {
			asked.Store(0)
			u := newUser(t)
			args := append([]string{"-p", "--output-format", "stream-json", u.script("-- 1 --\ncall webfetch: {\"url\":\"" + c.url + "\"}\n-- 2 --\ntext: end\n")}, c.flags...)
			r := u.run(append(args, "hi")...).wants(endOf(strings.HasPrefix(c.want, "webfetch denied")))
			if got := r.ends(); len(got) != 1 || got[0] != c.want || asked.Load() != c.asked {
				t.Errorf("%q after %d requests, want %q after %d", got, asked.Load(), c.want, c.asked)
			}
		})
	}
}

// What a killed adze left is ended by the next one, once its model has answered.
func TestTheNextRunEndsWhatAKilledOneLeft(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	u := newUser(t)
	orphan := exec.Command("setsid", "sleep", "1000")
	orphan.Env = append(os.Environ(), "ADZE_CALL=left-behind")
	if err := orphan.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- orphan.Wait() }()
	t.Cleanup(func() { orphan.Process.Kill() })
	jobs := filepath.Join(u.home, "state", "jobs")
	if err := os.MkdirAll(jobs, 0o700); err != nil {
		t.Fatal(err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Skip("no boot id here")
	}
	dead := fmt.Sprintf(`{"pid":4000000,"start":1,"boot":%q}`, strings.TrimSpace(string(boot)))
	record := filepath.Join(jobs, "4000000.json")
	if err := os.WriteFile(record, []byte(`{"tag":"left-behind","owner":`+dead+`,"shim":`+dead+`}`), 0o600); err != nil {
		t.Fatal(err)
	}
	u.run("-p", u.script("-- 1 --\ntext: hello\n"), "hi").wants(0, "hello")
	late := time.AfterFunc(patience, func() { orphan.Process.Signal(syscall.SIGTERM) })
	defer late.Stop()
	if err := <-ended; err == nil || orphan.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the orphan ended by itself: %v", err)
	}
	if _, err := os.Stat(record); err == nil {
		t.Error("the record is still there")
	}
}

func TestLimitsOfTheConfiguration(t *testing.T) {
	u := newUser(t)
	u.configure(`{"limits": {"bash_timeout": "3s", "glob": 2}, "output": {"lines": 9}}`)
	r := u.run("-p", "--permission-mode", "yolo", u.script("-- 1 --\ncall bash: {\"command\":\"true\",\"timeout\":6}\n-- 2 --\nexpect bash completed: exit code 0\ntext: all held\n"), "hi").wants(0, "all held")
	for _, want := range []string{"limits is gone: a command goes on", "output is gone"} {
		if !strings.Contains(r.err, want) {
			t.Errorf("no %q in %s", want, r.err)
		}
	}
	for _, bad := range []string{`{"sessions": {"keep": {"days": -5}}}`} {
		u.configure(bad)
		u.run("-p", "--model", "script/x", "hi").wants(2, "config.json", "hint:")
	}
}
