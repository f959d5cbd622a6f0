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

// Line is one line from the user.
type Line struct {
	Text string
	Long bool // it exceeded maxLine and was dropped
}

// maxLine limits a line, in bytes.
const maxLine = 1 << 20

// ReadLines reads lines in its own goroutine, because a read cannot be interrupted. The channel is
// closed at the end of the input.
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

// Slash parses a slash command; a path such as /etc/hosts is none.
func Slash(text string) (name, arg string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok || strings.Contains(rest, "\n") {
		return "", "", false
	}
	name, arg, _ = strings.Cut(rest, " ")
	return name, strings.TrimSpace(arg), name != "" && !strings.Contains(name, "/")
}

// line handles one line.
func (p *Interface) line(l Line) {
	if l.Long {
		p.printText("That line is longer than 1 MB and was dropped. Save it as a file and name the file with @.")
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

// send sends a message or runs the user's own command.
func (p *Interface) send(text string) {
	cmd, waits, why := p.Root.Send(text)
	if why != "" {
		p.printText(why + ".")
		return
	}
	if waits {
		p.printText("This waits until the agent has finished.")
	}
	p.run(cmd)
}

// steer passes a message to the agent before its next step.
func (p *Interface) steer(text string) {
	cmd, why := p.Root.Steer(text)
	if why != "" {
		p.printText(why + ".")
		return
	}
	p.run(cmd)
	p.printText("The agent reads this before its next step.")
}

// onScreen returns the alternative for a command that needs a screen, or "".
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

// command runs a slash command.
func (p *Interface) command(name, arg string) {
	full, ok := p.Root.Named(name)
	switch {
	case !ok:
		p.printText("There is no command /" + name + "; /help lists them.")
	case onScreen(full) != "":
		p.printText(onScreen(full))
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

// answer handles a line as the answer; it rejects a line typed before the question appeared.
func (p *Interface) answer(text string) {
	a := ask.Answer{Choice: ask.Deny}
	letter, number := choice(text, len(p.Dialog.Offered()))
	p.Dialog.Choose(number)
	switch {
	case time.Since(p.asked) < permission.Guard:
		p.asked = time.Now() // several pasted lines contain no answer
		p.printText("This came too soon to be an answer. Answer now:")
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

// choice parses a letter with an offer's number, returned from 0. Without a valid number it returns
// text and -1.
func choice(text string, offers int) (letter string, number int) {
	letter, rest := text[:min(1, len(text))], strings.TrimSpace(text[min(1, len(text)):])
	n, err := strconv.Atoi(rest)
	if err != nil || n < 1 || n > offers {
		return text, -1
	}
	return letter, n - 1
}

// reply handles a line as the answer to a question from the model: a choice's number or free text.
func (p *Interface) reply(text string) {
	if time.Since(p.asked) < permission.Guard {
		p.asked = time.Now()
		p.printText("This came too soon to be an answer. Answer now:")
		return
	}
	if text == "" {
		return
	}
	answer := p.Inquiry.AnswerFor(text)
	if answer == "" { // not a choice, and the question accepts nothing else
		p.send(text)
		p.printText("The question stays; answer with a number.")
		return
	}
	p.Inquiry.Reply(question.Reply{Text: answer})
	p.next()
}

// next prints the next waiting question, if any.
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

// pick handles a line as the choice from a list.
func (p *Interface) pick(text string) {
	if text == "" {
		p.List.Close()
		p.printText("Nothing was chosen.")
		return
	}
	n, err := strconv.Atoi(text)
	if err != nil || !p.List.Mark(n-1) {
		p.printText("There is no such number.")
		return
	}
	if why := p.List.CanPick(); why != "" {
		p.printText("This cannot be chosen: " + why)
		return
	}
	p.run(p.List.Pick())
}
