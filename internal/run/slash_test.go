package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// homed makes a user and a function that writes files of their home.
func homed(t *testing.T) (u *user, home func(name, text string)) {
	u = newUser(t)
	return u, func(name, text string) {
		t.Helper()
		file := filepath.Join(u.own, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// answers is a model that says yes to a prompt that fits.
func (u *user) answers(expect string) string {
	return u.script("-- 1 --\nexpect prompt: " + expect + "\ntext: yes\n")
}

func TestCommandsOfAssistants(t *testing.T) {
	u, home := homed(t)
	u.file(".adze/commands/a.md", "Do $1.")
	u.file(".claude/commands/git/c.md", "---\ndescription: d: e\n---\nDo $ARGUMENTS.")
	u.file(".opencode/command/o.md", "Do $1 and $2.")
	home(".codex/prompts/x.md", "Do $1.")
	home(".claude/commands/mine.md", "Do it.")
	for words, want := range map[string]string{
		"/a b c": "Do b.", "/git:c b c": "Do b c.", "/git/c b": "Do b.", "/c b": "Do b.", "/o a b c": "Do a and b c.",
		"/x 1": "Do 1.", "/mine b": `Do it\.\n\nARGUMENTS: b`, "/user:mine": "Do it.",
	} {
		u.run("-p", u.answers(`(?s)^`+words+`\n\n<command from="[^"]+" sha256="[0-9a-f]{16}">\n`+want+`\n</command>$`), words).wants(0, "yes")
	}
	r := u.runWith(strings.NewReader("a log\n"), "-p", u.answers(`(?s)^/a b\n.*Do b\.\n</command>\n\n<stdin>\na log\n</stdin>$`), "/a b").wants(0)
	if r.out != "yes\n" {
		t.Errorf("stdout is %q", r.out)
	}
	u.runWith(strings.NewReader("/a b\n"), "-p", u.answers(`(?s)Do b\.`)).wants(0)
	u.run("-p", "--output-format", "stream-json", u.answers(`(?s)Do b\.`), "/a b").wants(0, `"cause":"done"`)
	u.run("-p", "--bare", u.answers(`x`), "/a b").wants(2, "there is no command /a")
}

// A run that is killed while a part of a command runs leaves a call without a message; the next run
// closes it.
func TestAKilledPartOfACommandIsClosed(t *testing.T) {
	needs(t, "bash")
	if runtime.GOOS != "linux" {
		t.Skip("the census of processes needs /proc")
	}
	u, home := homed(t)
	tag := fmt.Sprintf("8%d.3", os.Getpid())
	home(".claude/commands/slow.md", "See !`sleep "+tag+"`.")
	s := u.start("-p", "--permission-mode", "yolo", u.answers("x"), "/slow")
	waitFor(t, "the part", func() bool { return len(carrying(tag)) > 0 })
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // killed
	wantNobody(t, tag)
	u.run("-p", "--continue", u.answers("^and now$"), "and now").wants(0, "yes")
	r := u.run("audit", "show").wants(0, "call  bash aborted")
	if n := strings.Count(r.out, "call  bash"); n != 1 {
		t.Errorf("the call has %d outcomes:\n%s", n, r.out)
	}
	u.run("audit", "verify", "--all").wants(0, "1 session checked, all sound")
}

func TestNamesThatNobodyHas(t *testing.T) {
	u, _ := homed(t)
	u.file(".claude/commands/review.md", "Do it.")
	u.run("-p", u.answers("x"), "/reveiw 12").wants(2, "there is no command /reveiw", "did you mean /review?", "a blank before the slash makes it text")
	u.run("-p", u.answers("x"), "/compact").wants(2, "/compact is a command of the interface")
	for _, text := range []string{"/etc/hosts is full, why?", "/tmp is full, why?", "// what is this?", " /reveiw", "/* a comment */"} {
		u.run("-p", u.answers("^"+strings.ReplaceAll(strings.ReplaceAll(text, "*", `\*`), "?", `\?`)+"$"), text).wants(0)
	}
	u.runWith(strings.NewReader("/unknown thing\n"), "-p", u.answers(`^/unknown thing\n$`)).wants(0)
}

// A file that cannot be used is told of, and stops nothing.
func TestBrokenFilesAreTold(t *testing.T) {
	u, _ := homed(t)
	u.file(".claude/skills/silent/SKILL.md", "")
	u.file(".claude/commands/a b.md", "x")
	u.file(".claude/commands/huge.md", "---\ndescription: "+strings.Repeat("x", 20000)+"\n---\nx")
	u.run("-p", u.answers("hi"), "hi").wants(0, "not usable: ", "a b.md: its name", "huge.md: its front matter is longer", "SKILL.md: it has no description")
}

// What a file asks for beside its text is told, and not done.
func TestWhatACommandAsksForIsTold(t *testing.T) {
	u, _ := homed(t)
	u.file(".claude/commands/x.md", "---\nallowed-tools: Bash(rm:*), Read\nmodel: other\nagent: plan\n---\nDo it.")
	u.run("-p", u.answers("Do it"), "/x").wants(0, "/x asks for Bash(rm:*), Read; that allows nothing", "asks for the model other, which is not used: ", "that of this session answers", "asks for the agent plan")
}

// The user's name wins, what is adze's own before all; a shadowed one is reached by its origin.
func TestWhoseNameWins(t *testing.T) {
	u, home := homed(t)
	u.file(".claude/commands/fix.md", "Of the project.")
	u.file(".claude/commands/help.md", "Of the project.")
	home(".claude/commands/fix.md", "Of the person.")
	u.run("-p", u.answers(`Of the person`), "/fix").wants(0)
	u.run("-p", u.answers(`Of the project`), "/project:fix").wants(0)
	u.run("-p", u.answers(`x`), "/help").wants(2, "of the interface")
	u.run("-p", u.answers(`Of the project`), "/project:help").wants(0)
}

// Shell parts of a project run after consent only, and through the gate; those of the user
// through the gate.
func TestShellPartsOfCommands(t *testing.T) {
	u, home := homed(t)
	u.file(".claude/commands/st.md", "---\nallowed-tools: Bash(echo:*)\n---\nStatus: !`echo one $0`\n\n```!\necho two\necho three\n```\nEnd.")
	home(".claude/commands/mine.md", "Mine: !`echo \"<$0>\"`.")
	allow := []string{"-p", "--allow", "execute(echo **)"}
	run := func(expect string, words ...string) ran {
		return u.run(append(append(allow, u.answers(expect)), words...)...)
	}

	run("x", "/st a").wants(7, "would run commands, which you did not allow yet", "adze permission trust allow")
	u.run("trust", "allow", "command:st").wants(0)
	run(`(?s)Status: one a\n\ntwo\nthree\nEnd\.`, "/st a").wants(0, "yes")
	run(`(?s)Status: one \$\(touch X\)\n`, "/st '$(touch X)'").wants(0)
	if _, err := os.Lstat(filepath.Join(u.dir, "X")); err == nil {
		t.Error("an argument became shell text")
	}
	u.run("-p", "--permission-mode", "ask", u.answers("x"), "--deny", "execute(echo **)", "/st a").wants(7, "/st: echo one 'a': denied")
	u.file(".claude/commands/st.md", "Status: !`echo one; touch X`")
	run("x", "/st").wants(7, "changed since you allowed it")
	if _, err := os.Lstat(filepath.Join(u.dir, "X")); err == nil {
		t.Error("a changed command ran")
	}
	run(`(?s)Mine: <a b>\.`, "/mine 'a b'").wants(0)
	home(".claude/commands/fails.md", "Mine: !`sh -c 'echo oops >&2; exit 3'`.")
	u.run("-p", "--permission-mode", "yolo", "--sandbox", "off", u.answers("x"), "/fails").wants(8, "/fails: sh -c", "exit code 3", "nothing was sent")
}

// What was allowed is in the log, with whose it was, and is called once.
func TestShellPartsAreInTheLog(t *testing.T) {
	u, home := homed(t)
	home(".claude/commands/mine.md", "Mine: !`echo one` and !`echo $ARGUMENTS`.")
	r := u.run("-p", "--output-format", "stream-json", "--allow", "execute(echo **)", u.answers("(?s)Mine: one and !.echo two.\\."), "/mine '!`echo two`'").wants(0)
	if ends := strings.Join(r.ends(), "\n"); ends != "bash completed\nbash completed" {
		t.Errorf("calls: %s", ends)
	}
	if first := r.lines()[0]["type"]; first != "init" {
		t.Errorf("the first line is %v", first)
	}
	id, _ := r.result()["session"].(string)
	u.run("audit", "show", id, "--json").wants(0, `"origin":"command"`)
}

func TestFilesOfCommands(t *testing.T) {
	u, _ := homed(t)
	u.file("a.txt", "the text of a\n")
	u.file(".env", "KEY=secret\n")
	u.file(".claude/commands/f.md", "Look at @$0 and @types/node, me@example.com.")
	u.file(".claude/commands/s.md", "Look at @.env.")
	u.run("-p", u.answers(`(?s)Look at @a\.txt and @types/node, me@example\.com\.\n</command>\n\n<file path="a\.txt">\n.*the text of a\n</file>$`), "/f a.txt").wants(0)
	u.run("-p", u.answers(`(?s)Look at @none\.txt and`), "/f none.txt").wants(0)
	u.run("-p", u.answers("x"), "/s").wants(7, "denied", "nothing was sent")
}

// A command's model answers its one turn: of the user's command any that can be used, of a
// project's one of the provider that is used anyway. What comes after, also in the next run, is the
// session's; a name that nobody knows stops nothing.
func TestACommandMayNameAModel(t *testing.T) {
	u, home := homed(t)
	write := func(name, steps string) string {
		file := filepath.Join(u.home, name+".txtar")
		if err := os.WriteFile(file, []byte("# "+name+"\n"+steps), 0o600); err != nil {
			t.Fatal(err)
		}
		return "script/" + file
	}
	usual := write("usual", "-- 1 --\nexpect prompt: ^after$\ntext: usual\nusage: input=1000\n")
	small := write("small", "-- 1 --\nexpect prompt: Do it\ntext: small\nusage: input=1000\n")
	u.configure(`{"model": "` + usual + `", "models": {"` + small + `": {"price": {"input": 1, "output": 1}}, "script/*": {"price": {"input": 100, "output": 100}}}}`)
	home(".claude/commands/mine.md", "---\nmodel: "+small+"\n---\nDo it.")
	u.file(".claude/commands/theirs.md", "---\nmodel: "+small+"\n---\nDo it.")
	for _, name := range []string{"/mine", "/theirs"} {
		r := u.run("-p", "--output-format=json", name).wants(0, name+" is answered by "+small)
		if got := r.result(); got["text"] != "small" || fmt.Sprint(got["cost_usd"]) != "0.001" {
			t.Errorf("%s: %v for %v", name, got["text"], got["cost_usd"])
		}
		u.run("-p", "--continue", "after").wants(0, "usual")
		u.run("audit", "show").wants(0, small+" ", usual+" ")
	}
	u.env = append(u.env, "OPENAI_API_KEY=sk-test-0000000000000000")
	for name, want := range map[string]string{"openai/gpt-5": "the file of a project chooses no provider", "sonnet": "asks for the model sonnet, which is not used: "} {
		u.file(".claude/commands/odd.md", "---\nmodel: "+name+"\n---\nThis comes after.")
		u.run("-p", u.answers("This comes after"), "/odd").wants(0, want, "that of this session answers", "yes")
	}
}
