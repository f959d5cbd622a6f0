package run_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
	if last := p.ends().wants(7).result(); last["text"] != "Then not." || len(last["denied"].([]any)) != 1 {
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

// TestAProgramReadsWhatTheModelReads: init comes before anything is said, a result with its output
// and its length, a picture with its bytes, another mode and model as lines of their own, and a
// picture that the program sends reaches the model.
func TestAProgramReadsWhatTheModelReads(t *testing.T) {
	u := newUser(t)
	picture := pngOf(t, 20, 10)
	u.file("p.png", string(picture))
	second := filepath.Join(u.home, "second.txtar")
	if err := os.WriteFile(second, []byte("# t\n-- 1 --\nexpect prompt: look\ntext: I am the second.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := u.program("--permission-mode=yolo", "--sandbox=off", u.script("-- 1 --\ncall bash: {\"command\":\"seq 3; exit 3\"}\n-- 2 --\ncall bash: {\"command\":\"head -c 90000 /dev/zero | tr '\\\\0' x | fold -w 1000\"}\n"+
		"-- 3 --\ncall read: {\"file_path\":\"p.png\"}\n-- 4 --\ntext: Done.\n"))
	p.until(`"type":"init"`)
	p.says(`{"type":"prompt","text":"go"}`)
	p.until(`"type":"turn"`)
	p.says(`{"type":"set","permission_mode":"edits"}`)
	p.until(`{"type":"mode","permission_mode":"edits"}`)
	p.says(`{"type":"set","model":"nobody/knows"}`)
	p.until(`"type":"unread","line":3`)
	p.says(fmt.Sprintf(`{"type":"set","model":"script/%s"}`, second))
	p.until(fmt.Sprintf(`{"type":"model","provider":"script","model":%q}`, second))
	p.says(fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":%q}}]}}`,
		base64.StdEncoding.EncodeToString(picture)))
	p.until(`"type":"turn"`)
	r := p.ends().wants(0)
	if last := r.result(); last["text"] != "I am the second." {
		t.Errorf("result %v", last)
	}
	var ends []line
	for _, l := range r.lines() {
		if l["type"] == "tool_end" {
			ends = append(ends, l)
		}
	}
	if len(ends) != 3 {
		t.Fatalf("%d calls ended", len(ends))
	}
	if out := ends[0]["output"].(string); !strings.Contains(out, "1\n2\n3\n") || ends[0]["output_bytes"] != float64(len(out)) {
		t.Errorf("the first call ended with %v", ends[0])
	}
	if out := ends[1]["output"].(string); !strings.Contains(out, "xxxx") || ends[1]["truncated"] != true || ends[1]["output_file"] == nil || ends[1]["output_bytes"].(float64) < float64(len(out)) {
		t.Errorf("the second call ended with %d bytes, %v", len(out), ends[1]["output_bytes"])
	}
	a, _ := ends[2]["attachments"].([]any)
	if len(a) != 1 || a[0].(map[string]any)["data"] != base64.StdEncoding.EncodeToString(picture) || a[0].(map[string]any)["media_type"] != "image/png" {
		t.Errorf("the picture came as %v", ends[2])
	}
}

// pngOf is a picture of this size.
func pngOf(t *testing.T, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestAProgramThatDiesEndsItsRun: it closed stdin as one does that has said all, and its call goes
// on; when nobody reads stdout any more it ends at once, though nothing is written.
func TestAProgramThatDiesEndsItsRun(t *testing.T) {
	needProc(t)
	u := newUser(t)
	cmd := u.command("-p", "--input-format=stream-json", "--output-format=stream-json", "--permission-mode=yolo", "--sandbox=off",
		u.script("-- 1 --\ncall bash: {\"command\":\""+nap(511)+"\"}\n"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	w := &wire{u, in, bufio.NewReader(out), cmd, nil}
	w.says(`{"type":"prompt","text":"sleep"}`)
	w.until(`"type":"tool_update"`)
	waitFor(t, "the command", func() bool { return napping(511) == 1 })
	in.Close()
	out.Close()
	if code := w.wait(); code != 11 || napping(511) != 0 {
		t.Errorf("exit code %d, %d commands run", code, napping(511))
	}
}
