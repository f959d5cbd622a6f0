package plain

import (
	"fmt"
	"strings"

	"adze/tui/permission"
)

// lastLine ends the lines of a changed call.
const lastLine = "."

// otherwise takes a line that asks for the call otherwise than it was made: with another command,
// or without some of its hunks. False: the line means something else.
func (p *Interface) otherwise(text string) bool {
	numbers, parts := strings.CutPrefix(text, "e ")
	switch {
	case text == "e" && p.Dialog.Edits():
		p.rewriting, p.rewritten = true, nil
		p.say("The command now:")
		p.say(permission.Begin(p.Dialog.First().Question.Editing.Text))
		p.say("Write the whole command again. A line with only a dot ends it; a dot alone goes back to the question:")
	case text == "e" && p.Dialog.Parts() > 1:
		p.Dialog.Split(true)
		body := p.Dialog.Body(Width)
		for _, r := range body.Append(nil, 0, body.Len()) {
			fmt.Fprintln(p.Out, strings.TrimRight(r.String(), " "))
		}
		p.Dialog.Split(false)
		p.say("Answer now:")
	case parts && p.Dialog.Parts() > 1:
		refused, why, ok := p.Dialog.Numbers(numbers)
		if !ok {
			p.say(fmt.Sprintf("Write the numbers of the hunks after e, such as e 1,2; there are %d. Answer now:", p.Dialog.Parts()))
			return true
		}
		p.Dialog.PartWithout(refused, why)
		p.next()
	default:
		return false
	}
	return true
}

// rewrite takes a line of the changed call.
func (p *Interface) rewrite(line string) {
	if strings.TrimSpace(line) != lastLine {
		p.rewritten = append(p.rewritten, line)
		return
	}
	p.rewriting = false
	p.Dialog.Change(true)
	p.Dialog.Text.Set(strings.Join(p.rewritten, "\n"))
	if p.Dialog.Blank() != "" {
		p.Dialog.Change(false)
		p.ask()
		return
	}
	p.Dialog.Changed()
	p.next()
}
