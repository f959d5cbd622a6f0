package app_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// program drives adze as one that holds a conversation.
type program struct {
	*started
	in io.WriteCloser
}

func (u *user) program(args ...string) *program {
	u.t.Helper()
	cmd := u.command(append([]string{"-p", "--input-format=stream-json", "--output-format=stream-json"}, args...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	return &program{(&started{u: u, cmd: cmd}).begin(), in}
}

func (p *program) says(lines ...string) {
	p.u.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.in, l+"\n"); err != nil {
			p.u.t.Fatalf("%v\n%s\n%s", err, p.seen.String(), p.errs)
		}
	}
}

// ends closes stdin and reads to the end.
func (p *program) ends() ran {
	p.u.t.Helper()
	p.in.Close()
	rest, _ := io.ReadAll(p.out)
	p.seen.Write(rest)
	_ = p.cmd.Wait() // the code is what counts
	return ran{p.u.t, p.seen.String(), p.errs.String(), p.cmd.ProcessState.ExitCode()}
}

// TestAProgramHoldsAWholeConversation: prompts, a remark while a call waits, answers of three
// kinds, an abort that ends one turn only, a mistake that ends nothing, and a result that sums up
// all.
func TestAProgramHoldsAWholeConversation(t *testing.T) {
	u := newUser(t)
	p := u.program(u.script("-- 1 --\ncall write: {\"file_path\":\"a.txt\",\"content\":\"one\\n\"}\n" +
		"-- 2 --\nexpect prompt: say two as well\ntext: Written, and two.\n" +
		"-- 3 --\ncall ask: {\"question\":\"Which database?\",\"choices\":[\"SQLite\",\"Postgres\"]}\n" +
		"-- 4 --\nexpect ask completed: Postgres\ncall bash: {\"command\":\"touch never\"}\n" +
		"-- 5 --\nexpect bash denied: not on a Sunday\ncall bash: {\"command\":\"touch never\"}\n" +
		"-- 6 --\nexpect prompt: still there\ntext: Here.\n"))
	p.says(`{"type":"promt","text":"x"}`)
	p.until(`"type":"unread","line":1`)
	p.says(`{"type":"prompt","id":"p1","text":"write a"}`)
	p.until(`"kind":"permission"`)
	p.says(`{"type":"steer","text":"say two as well"}`, `{"type":"answer","question":"q1","choice":"sometimes"}`)
	p.until(`"type":"unread","line":4`)
	p.says(`{"type":"answer","question":"q1","choice":"once"}`)
	p.until(`"prompt":"p1"`)
	p.says(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"which one"}]}}`)
	p.until(`"kind":"inquiry"`)
	p.says(`{"type":"answer","question":"q2","choice":"Postgres"}`)
	p.until(`"question":"q3"`)
	p.says(`{"type":"answer","question":"q3","choice":"no","reason":"not on a Sunday"}`)
	p.until(`"question":"q4"`)
	p.says(`{"type":"prompt","id":"p3","text":"still there?"}`, `{"type":"abort"}`)
	r := p.ends().wants(0, "did you mean prompt?", "no choice")
	last := r.result()
	if last["text"] != "Here." || last["turns"] != float64(6) {
		t.Errorf("result %v", last)
	}
	var turns []string
	for _, l := range r.lines() {
		if l["type"] == "turn" {
			turns = append(turns, fmt.Sprintf("%v %v", l["prompt"], l["cause"]))
		}
	}
	if got := strings.Join(turns, ", "); got != "p1 done, <nil> interrupted, p3 done" {
		t.Errorf("turns: %s", got)
	}
	if got := strings.Join(r.ends(), ", "); got != "write completed, ask completed, bash denied denied, bash aborted aborted" {
		t.Errorf("calls: %s", got)
	}
	if text, err := os.ReadFile(filepath.Join(u.dir, "a.txt")); err != nil || string(text) != "one\n" {
		t.Errorf("a.txt: %q %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(u.dir, "never")); err == nil {
		t.Error("a call that was denied has run")
	}
}

// TestAQuestionAtTheEndOfStdinIsDenied: nobody waits for ever, and what was asked before the end is
// done.
func TestAQuestionAtTheEndOfStdinIsDenied(t *testing.T) {
	u := newUser(t)
	p := u.program(u.script("-- 1 --\ncall bash: {\"command\":\"touch never\"}\n-- 2 --\nexpect bash denied: .\ntext: Then not.\n"), "make", "it")
	p.until(`"kind":"permission"`)
	if last := p.ends().wants(0).result(); last["text"] != "Then not." || len(last["denied"].([]any)) != 1 {
		t.Errorf("result %v", last)
	}
}

// TestAProgramChangesACall: it takes back a hunk, rewrites a command, and lets a rule hold for the
// rest of the run.
func TestAProgramChangesACall(t *testing.T) {
	u := newUser(t)
	u.file("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	p := u.program(u.script("-- 1 --\ncall read: {\"file_path\":\"a.txt\"}\n"+
		"-- 2 --\ncall edit: {\"file_path\":\"a.txt\",\"edits\":[{\"old_string\":\"1\",\"new_string\":\"one\"},{\"old_string\":\"9\",\"new_string\":\"nine\"}]}\n"+
		"-- 3 --\nexpect edit completed: (?s).\ncall bash: {\"command\":\"printf wrong > b.txt\"}\n"+
		"-- 4 --\nexpect bash completed: (?s).\ncall bash: {\"command\":\"mkdir x\"}\n"+
		"-- 5 --\ncall bash: {\"command\":\"mkdir y\"}\n-- 6 --\ntext: Done.\n"), "--sandbox=off", "go")
	p.until(`"question":"q1"`)
	p.says(`{"type":"answer","question":"q1","choice":"once","refused":[2],"reason":"nine stays"}`)
	p.until(`"question":"q2"`)
	p.says(`{"type":"answer","question":"q2","choice":"once","text":"printf right > b.txt"}`)
	p.until(`"question":"q3"`)
	p.says(`{"type":"answer","question":"q3","choice":"session","offer":99}`)
	p.until(`"type":"unread"`)
	p.says(`{"type":"answer","question":"q3","choice":"session"}`)
	p.until(`"type":"turn"`)
	p.ends().wants(0, "there is no offer 99")
	for name, want := range map[string]string{"a.txt": "one\n2\n3\n4\n5\n6\n7\n8\n9\n", "b.txt": "right"} {
		if text, err := os.ReadFile(filepath.Join(u.dir, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q %v\n%s", name, text, err, p.seen.String())
		}
	}
	if strings.Contains(p.seen.String(), `"question":"q4"`) {
		t.Errorf("asked again after the session was allowed:\n%s", p.seen.String())
	}
}

func TestInputFormatsThatCannotBe(t *testing.T) {
	u := newUser(t)
	for _, c := range []struct{ args, says string }{
		{"-p --input-format=yaml hi", "unknown input format"},
		{"-p --input-format=stream-json hi", "--output-format stream-json"},
		{"-p --input-format=stream-json --output-format=stream-json --model=openai/m -", "leave - out"},
	} {
		u.run(strings.Fields(c.args)...).wants(2, c.says)
	}
	r := u.runWith(strings.NewReader("\n"), "-p", "--input-format=stream-json", "--output-format=stream-json", u.script("-- 1 --\ntext: x\n")).wants(2)
	if got := r.result(); got["cause"] != "usage" || !strings.Contains(fmt.Sprint(got["message"]), "no prompt came") {
		t.Errorf("result %v", got)
	}
}
