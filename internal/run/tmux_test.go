package run_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"adze/internal/policy"
	"adze/internal/project/trust"
	"adze/internal/testkit/posix"
)

// pane is a real terminal: a pane of a tmux server of its own, with a shell in it.
type pane struct {
	t      *testing.T
	u      *user
	socket string
	before string // the terminal's modes, from stty
	typed  []string
}

// openPane starts a shell of w by h cells in which adze is a command.
func (u *user) openPane(w, h int) *pane {
	u.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		u.t.Skip("tmux is not installed: no terminal to look at")
	}
	dir, err := os.MkdirTemp("", "adze-tmux-") // not TempDir: a socket's path has at most 108 bytes
	if err != nil {
		u.t.Fatal(err)
	}
	p := &pane{t: u.t, u: u, socket: filepath.Join(dir, "s")}
	u.choose(policy.AskFirst)
	if u.panes++; u.panes == 1 {
		u.t.Cleanup(func() { // after those of all panes
			if left := ""; !eventually(func() bool { left = runningBelow(u.dir); return left == "" }) {
				u.t.Errorf("when the terminals are gone, this still runs: %s", left)
			}
		})
	}
	u.t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", p.socket, "kill-server").Run() // it may have ended by itself
		os.RemoveAll(dir)
	})
	cmd := exec.Command("tmux", "-S", p.socket, "-f", "/dev/null", "new-session", "-d",
		"-x", strconv.Itoa(w), "-y", strconv.Itoa(h), "sh", "-i")
	cmd.Dir = u.dir
	cmd.Env = append(u.env, "PS1=$ ", "ENV=", "TMUX=", "HISTFILE=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		u.t.Skipf("tmux does not start: %v %s", err, out)
	}
	p.sees("$")
	p.before = p.modes()
	return p
}

// choose answers in advance how commands run in the folder, unless that or anything else was
// answered before.
func (u *user) choose(mode policy.Mode) {
	u.t.Helper()
	here := trust.Project{Dir: u.dir, Book: trust.OpenBook(filepath.Join(u.home, "state"))}
	if here.Mode() != "" {
		return
	}
	if err := here.ChooseMode(u.t.Context(), string(mode)); err != nil {
		u.t.Fatal(err)
	}
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %v: %v %s", args, err, out)
	}
	return string(out)
}

func (p *pane) screen() string { return p.tmux("capture-pane", "-p") }

// until polls until a condition holds; the screen is shown when it never does.
func (p *pane) until(what string, holds func() bool) {
	p.t.Helper()
	if !eventually(holds) {
		p.t.Fatalf("never: %s\n%s", what, p.screen())
	}
}

// sees waits until the screen shows every text.
func (p *pane) sees(texts ...string) string {
	p.t.Helper()
	var now string
	p.until(fmt.Sprintf("%q on the screen", texts), func() bool {
		now = p.screen()
		for _, text := range texts {
			if !strings.Contains(now, text) {
				return false
			}
		}
		return true
	})
	return now
}

// keys presses keys by tmux's names; text types literally.
func (p *pane) keys(names ...string) {
	p.t.Helper()
	p.typed = append(p.typed, names...)
	p.tmux(append([]string{"send-keys"}, names...)...)
}

func (p *pane) text(s string) {
	p.t.Helper()
	p.typed = append(p.typed, strconv.Quote(s))
	p.tmux("send-keys", "-l", s)
}

// shell types a command line into the shell.
func (p *pane) shell(line string) { p.t.Helper(); p.text(line); p.keys("Enter") }

// adze starts the program and waits for its prompt.
func (p *pane) adze(args ...string) {
	p.t.Helper()
	p.begin(args...)
	p.sees("Ask, or say what to do")
}

// begin starts the program; its process id is left in a file, and its exit code on the screen.
func (p *pane) begin(args ...string) {
	p.t.Helper()
	line := "exec " + quoted(p.u.command().Path)
	for _, arg := range args {
		line += " " + quoted(arg)
	}
	start := filepath.Join(p.u.home, "start")
	script := "echo $$ > " + quoted(p.pidFile()) + "\n" + line + "\n"
	if err := os.WriteFile(start, []byte(script), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.shell("clear; sh " + quoted(start) + "; echo ended with $?")
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (p *pane) pidFile() string { return filepath.Join(p.u.home, "pid") }

func (p *pane) signal(s syscall.Signal) {
	p.t.Helper()
	if err := posix.Signal(p.pid(), s); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pane) pid() int {
	p.t.Helper()
	raw, err := os.ReadFile(p.pidFile())
	if err != nil {
		p.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		p.t.Fatal(err)
	}
	return pid
}

// modes is what the terminal does with keys and characters, as stty and tmux know it.
func (p *pane) modes() string {
	p.t.Helper()
	tty := strings.TrimSpace(p.tmux("display-message", "-p", "#{pane_tty}"))
	f, err := os.Open(tty)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	cmd := exec.Command("stty", "-g")
	cmd.Stdin = f
	out, err := cmd.Output()
	if err != nil {
		p.t.Skipf("stty: %v", err)
	}
	return string(out) + p.tmux("display-message", "-p",
		"alternate #{alternate_on} cursor #{cursor_flag} wrap #{wrap_flag} mouse #{mouse_any_flag} keypad #{keypad_flag}")
}

// restored waits for the end of the program and checks that the terminal is as it was.
func (p *pane) restored(code int) string {
	p.t.Helper()
	now := p.sees(fmt.Sprintf("ended with %d", code))
	p.until("the terminal as it was, "+p.before+"but "+p.modes(), func() bool { return p.modes() == p.before })
	return now
}

// quit leaves by keys once the agent rests.
func (p *pane) quit() {
	p.t.Helper()
	p.rests()
	p.keys("C-d")
	p.restored(0)
}

func (p *pane) rests() {
	p.t.Helper()
	p.until("the agent rests", func() bool { return !strings.Contains(p.screen(), "esc: stop") })
}

// gate is a FIFO on which a command of a script waits until the test opens it.
func (u *user) gate(name string) (open func()) {
	u.t.Helper()
	path := filepath.Join(u.dir, name)
	if err := posix.Fifo(u.t, path); err != nil {
		u.t.Skipf("no FIFO: %v", err)
	}
	return func() {
		if err := os.WriteFile(path, []byte("go\n"), 0); err != nil {
			u.t.Fatal(err)
		}
	}
}

func TestSendWatchAndResumeInATerminal(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {60, 15}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			u := newUser(t)
			open := u.gate("gate")
			p := u.openPane(size[0], size[1])
			model := u.script("-- 1 runs it --\ntext: I run it.\ncall bash: {\"command\":\"echo first line; cat gate; echo last line\"}\n" +
				"-- 2 sums up --\nexpect bash completed: last line\ntext: All is well.\n")
			p.adze(model, "--permission-mode=yolo")
			p.text("run the command")
			p.keys("Enter")
			p.sees("┃ run the command", "● $ echo first line", "│ first line", "esc: stop") // live, while it waits
			open()
			p.sees("last line", "All is well.")
			p.quit()
			p.begin(u.script("-- 1 later --\nexpect prompt: and now\ntext: Still here.\n"), "--continue")
			p.sees("┃ run the command", "All is well.")
			p.text("and now?")
			p.keys("Enter")
			p.sees("Still here.")
			p.quit()
		})
	}
}

func TestApproveAndDenyInATerminal(t *testing.T) {
	u := newUser(t)
	p := u.openPane(80, 24)
	p.adze(u.script("-- 1 asks --\ncall bash: {\"command\":\"echo one > one.txt\"}\n" +
		"-- 2 asks again --\nexpect bash completed: \ncall bash: {\"command\":\"echo two > two.txt\"}\n" +
		"-- 3 sums up --\nexpect bash denied: keep it small\ntext: I left two alone.\n"))
	p.text("write")
	p.keys("Enter")
	p.sees("Run this command?", "echo one > one.txt", "y yes")
	p.keys("y")
	p.sees("echo two > two.txt", "n no")
	p.keys("n")
	p.sees("Why not?")
	p.text("keep it small")
	p.keys("Enter")
	p.sees("I left two alone.", "denied by you")
	p.quit()
	if _, err := os.Stat(filepath.Join(u.dir, "one.txt")); err != nil {
		t.Errorf("what was allowed did not happen: %v", err)
	}
	if _, err := os.Stat(filepath.Join(u.dir, "two.txt")); err == nil {
		t.Error("what was denied happened")
	}
}

func TestSignalsRestoreTheTerminal(t *testing.T) {
	for _, signal := range []struct {
		syscall.Signal
		code int
	}{{syscall.SIGTERM, 143}, {syscall.SIGINT, 130}} {
		t.Run(signal.String(), func(t *testing.T) {
			u := newUser(t)
			u.gate("gate")
			p := u.openPane(80, 24)
			p.adze(u.script("-- 1 --\ncall bash: {\"command\":\"echo begun; cat gate\"}\n"), "--permission-mode=yolo")
			p.text("wait")
			p.keys("Enter")
			p.sees("begun")
			p.signal(signal.Signal)
			p.restored(signal.code)
		})
	}
}

func TestSuspendAndResumeInATerminal(t *testing.T) {
	u := newUser(t)
	p := u.openPane(80, 24)
	p.adze(u.script("-- 1 --\ntext: Nothing.\n"))
	p.text("half a thought")
	p.sees("❯ half a thought")
	p.keys("C-z")
	p.until("the shell", func() bool { return p.modes() == p.before && !strings.Contains(p.screen(), "❯") })
	p.shell("echo in the $((1+1))nd place")
	p.sees("in the 2nd place")
	p.shell("fg")
	p.sees("❯ half a thought", "F1: keys")
	p.text(", and its end")
	p.sees("❯ half a thought, and its end")
	p.keys("C-u")
	p.sees("Ask, or say what to do")
	p.keys("C-d")
	p.until("the shell as it was", func() bool { return p.modes() == p.before })
}

func TestResizeStormInATerminal(t *testing.T) {
	u := newUser(t)
	p := u.openPane(80, 24)
	p.adze(u.script("-- 1 --\ntext: The answer stays.\n"))
	p.text("ask")
	p.keys("Enter")
	p.sees("The answer stays.")
	for i := range 60 {
		p.tmux("resize-window", "-x", strconv.Itoa(40+i*3), "-y", strconv.Itoa(8+i%40))
	}
	p.tmux("resize-window", "-x", "40", "-y", "10")
	p.sees("The answer stays.", "Ask, or say what to do", "F1: keys")
	p.tmux("resize-window", "-x", "39", "-y", "9")
	p.sees("too small")
	p.tmux("resize-window", "-x", "100", "-y", "30")
	now := p.sees("┃ ask", "The answer stays.", "Ask, or say what to do", "F1: keys")
	if n := strings.Count(now, "F1: keys"); n != 1 {
		t.Errorf("the status line is there %d times:\n%s", n, now)
	}
	lines := bytes.Split([]byte(strings.TrimRight(now, "\n")), []byte("\n"))
	if last := string(lines[len(lines)-1]); len(lines) != 30 || !strings.Contains(last, "F1: keys") {
		t.Errorf("the status line is not the last of 30 rows, but row %d is %q", len(lines), last)
	}
	p.quit()
}

func TestTheTranscriptStaysInTheTerminal(t *testing.T) {
	u := newUser(t)
	p := u.openPane(80, 24)
	p.adze(u.script("-- 1 --\ntext: The answer\\e[31m stays.\n"), "--transcript")
	p.text("ask")
	p.keys("Enter")
	p.sees("The answer", "stays.")
	p.rests()
	p.keys("C-d")
	p.sees("┃ ask", "The answer", "ended with 0", "--resume")
	p.restored(0)
}

// ended reports a process that runs no more. One whose parent has gone may stay as a zombie of
// whoever adopted it.
func ended(pid int) bool {
	if !posix.Alive(pid) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// TestAClosedTerminalEndsAdze, with what it runs; the conversation is there when it is resumed.
func TestAClosedTerminalEndsAdze(t *testing.T) {
	u := newUser(t)
	u.gate("gate")
	p := u.openPane(80, 24)
	p.adze(u.script("-- 1 --\ntext: I begin.\ncall bash: {\"command\":\"echo begun; cat gate\"}\n"), "--permission-mode=yolo")
	p.text("start")
	p.keys("Enter")
	p.sees("begun")
	pid := p.pid()
	p.tmux("split-window", "-d", "-c", u.dir, "sh", "-i") // the server lives on
	p.tmux("kill-pane", "-t", ":.0")
	p.until("adze has ended", func() bool { return ended(pid) })
	p.shell("clear")
	p.begin(u.script("-- 1 --\ntext: x\n"), "--continue")
	p.sees("┃ start", "I begin.", "stopped")
}
