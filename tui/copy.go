package tui

import (
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/safeterm"
	"adze/tui/list"
	"adze/tui/screen"
	"adze/tui/transcript"
	"adze/tui/ui"
)

// copier copies parts of the conversation to the clipboard.
type copier struct {
	host
	transcript *transcript.Pane
	picker     *list.List
	twice      *doublePress
	clip       func(safeterm.Text)
}

func (c *copier) commands() []command {
	return []command{{name: "copy", args: "[answer|code]", help: "copy the last of them, or what you choose", can: c.can, run: c.command}}
}

func (c *copier) can() string {
	return ui.ReasonIf(c.transcript.Len() == 0, "there is nothing to copy yet")
}

// key copies the last answer. If pressed again, or without an answer, it shows a list.
func (c *copier) key() tea.Cmd {
	text := c.transcript.Answer()
	if c.twice.is(copyLast) || text == "" {
		return c.choose()
	}
	c.twice.keep(copyLast)
	told, cmd := c.put("the last answer", text)
	c.showMessage(told + "; " + c.label(copyLast) + ": more")
	return cmd
}

// command copies the last answer or code block, or shows a list.
func (c *copier) command(arg string) tea.Cmd {
	what, ok := named(arg, []string{"answer", "code"})
	switch {
	case arg == "":
		return c.choose()
	case !ok:
		c.showMessage("answer or code; without a word: choose from a list")
		return nil
	}
	for _, it := range c.transcript.Copyables() {
		if it.Kind == what {
			return c.text("the last "+what, it.Text)
		}
	}
	c.showMessage("there is no " + what + " to copy yet")
	return nil
}

// text copies text and shows a confirmation.
func (c *copier) text(what, text string) tea.Cmd {
	told, cmd := c.put(what, text)
	c.showMessage(told)
	return cmd
}

// put returns a command that copies text, and the confirmation to show. It refuses more than
// screen.MaxCopy bytes.
func (c *copier) put(what, text string) (told string, cmd tea.Cmd) {
	if len(text) > screen.MaxCopy {
		return fmt.Sprintf("%s has %s: terminals take at most %s", what, ui.Size(len(text)), ui.Size(screen.MaxCopy)), nil
	}
	clean := safeterm.Clean(text)
	return fmt.Sprintf("copied %s (%s), if your terminal allows it", what, ui.Size(len(text))),
		func() tea.Msg { c.clip(clean); return nil }
}

func (c *copier) choose() tea.Cmd {
	all := c.transcript.Copyables()
	var items []list.Choice
	for i, it := range all {
		items = append(items, list.Choice{ID: strconv.Itoa(i), Label: it.Label, Note: it.Note})
	}
	if len(items) == 0 {
		c.showMessage("there is nothing to copy yet")
		return nil
	}
	c.picker.Begin("copy what?", items, func(taken list.Choice) tea.Cmd {
		i, _ := strconv.Atoi(taken.ID)
		return c.text(all[i].Label, all[i].Text)
	})
	return nil
}
