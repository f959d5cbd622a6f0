package plain

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"adze/internal/stream/ask"
	"adze/internal/text/lineread"
	"adze/tui/permission"
	"adze/tui/question"
)

// Line is one line of the user.
type Line struct {
	Text string
	Long bool // it was longer than maxLine bytes, and is left out
}

// maxLine bounds a line, in bytes.
const maxLine = 1 << 20

// ReadLines reads in a goroutine of its own: a read cannot be interrupted. It ends with the input.
func ReadLines(in io.Reader) <-chan Line {
	lines := make(chan Line)
	go func() {
		defer close(lines)
		r := lineread.New(in, maxLine)
		for {
			line, err := r.Next()
			switch {
			case errors.Is(err, lineread.ErrLong):
				lines <- Line{Long: true}
			case err != nil:
				return
			default:
				lines <- Line{Text: strings.TrimSuffix(string(line), "\r")}
			}
		}
	}()
	return lines
}

// Slash splits a line that is a command; a path such as /etc/hosts is none.
func Slash(text string) (name, arg string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok || strings.Contains(rest, "\n") {
		return "", "", false
	}
	name, arg, _ = strings.Cut(rest, " ")
	return name, strings.TrimSpace(arg), name != "" && !strings.Contains(name, "/")
}

// line obeys one line of the user.
func (p *Interface) line(l Line) {
	if l.Long {
		p.say("That line is longer than 1 MB and was dropped. Save it as a file and name the file with @.")
		p.print()
		return
	}
	text := strings.TrimSpace(l.Text)
	name, arg, isCommand := Slash(text)
	switch steer, ok := strings.CutPrefix(text, ">"); {
	case p.Dialog.Open():
		p.answer(text)
	case p.Inquiry.Open():
		p.reply(text)
	case p.List.Open:
		p.pick(text)
	case text == "":
	case isCommand:
		p.command(name, arg)
	case ok && p.Root.Working():
		p.steer(strings.TrimSpace(steer))
	default:
		p.send(text)
	}
}

// send is a message, or a command of the user's own.
func (p *Interface) send(text string) {
	cmd, waits, why := p.Root.Send(text)
	if why != "" {
		p.say(why + ".")
		return
	}
	if waits {
		p.say("This waits until the agent has finished.")
	}
	p.run(cmd)
}

// steer has the agent read a message before its next step.
func (p *Interface) steer(text string) {
	cmd, why := p.Root.Steer(text)
	if why != "" {
		p.say(why + ".")
		return
	}
	p.run(cmd)
	p.say("The agent reads this before its next step.")
}

// onScreen are the commands of the interface that change what a screen shows, with what there is
// instead.
func onScreen(name string) string {
	switch name {
	case "theme", "vim":
		return "This needs the screen; here are only lines."
	case "copy":
		return "Copy with your terminal; all lines are there."
	case "edit":
		return "An editor needs the screen; save the text as a file and name the file."
	}
	return ""
}

// command obeys a line that begins with a slash, as the interface does.
func (p *Interface) command(name, arg string) {
	full, ok := p.Root.Named(name)
	switch {
	case !ok:
		p.say("There is no command /" + name + "; /help lists them.")
	case onScreen(full) != "":
		p.say(onScreen(full))
	case full == "help":
		p.help()
	case full == "todos":
		p.todos()
	case full == "quit":
		p.leave = true
		p.Root.Leave()
	default:
		p.run(p.Root.Command(full, arg))
	}
}

// answer takes a line as the answer; one that was on its way when the question came is none.
func (p *Interface) answer(text string) {
	a := ask.Answer{Choice: ask.Deny}
	letter, number := choice(text, len(p.Dialog.Offered()))
	p.Dialog.Choose(number)
	switch {
	case time.Since(p.asked) < permission.Guard:
		p.asked = time.Now() // of several pasted lines none is an answer
		p.say("This came too soon to be an answer. Answer now:")
		return
	case text == "":
		return
	case text == "y":
		a.Choice = ask.Once
	case letter == "a" && p.Dialog.Grants():
		p.Dialog.All()
		p.next()
		return
	case text != "n":
		a.Reason = text
	}
	p.Dialog.Answer(a)
	p.next()
}

// choice reads a letter and the number of an offer behind it, which is counted from 0: without a
// number, or with one that none has, it is no choice of a number.
func choice(text string, offers int) (letter string, number int) {
	letter, rest := text[:min(1, len(text))], strings.TrimSpace(text[min(1, len(text)):])
	n, err := strconv.Atoi(rest)
	if err != nil || n < 1 || n > offers {
		return text, -1
	}
	return letter, n - 1
}

// reply takes a line as the answer to the model: the number of a choice, or other words.
func (p *Interface) reply(text string) {
	if time.Since(p.asked) < permission.Guard {
		p.asked = time.Now()
		p.say("This came too soon to be an answer. Answer now:")
		return
	}
	if text == "" {
		return
	}
	answer := p.Inquiry.Means(text)
	if answer == "" { // it is no choice of a question that has no other answers
		p.send(text)
		p.say("The question stays; answer with a number.")
		return
	}
	p.Inquiry.Reply(question.Reply{Text: answer})
	p.next()
}

// next prints the question that waits now, if any does.
func (p *Interface) next() {
	switch {
	case p.Dialog.Open():
		p.ask()
	case p.Inquiry.Open():
		p.inquire()
	}
}

func (p *Interface) refuseAll() {
	for p.Dialog.Open() {
		p.Dialog.Answer(ask.Answer{Choice: ask.Deny, Reason: "nobody is there to answer", Absent: true})
	}
	for p.Inquiry.Open() {
		p.Inquiry.Reply(question.Reply{Refused: true})
	}
}

// pick takes a line as the answer to what was offered.
func (p *Interface) pick(text string) {
	if text == "" {
		p.List.Close()
		p.say("Nothing was chosen.")
		return
	}
	n, err := strconv.Atoi(text)
	if err != nil || !p.List.Mark(n-1) {
		p.say("There is no such number.")
		return
	}
	if why := p.List.CanPick(); why != "" {
		p.say("This cannot be chosen: " + why)
		return
	}
	p.run(p.List.Pick())
}
