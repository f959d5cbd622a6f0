package tui

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/session/api"
	"adze/tui/async"
	"adze/tui/list"
	"adze/tui/prompt"
	"adze/tui/ui"
)

// composer handles the prompt and the features that fill it.
type composer struct {
	host
	ports  *api.Ports
	info   *Info
	prompt *prompt.Line
	picker *list.List
	keep   func(name, value string) tea.Cmd // offers to save a setting
	width  func() int                       // text width
	send   func() tea.Cmd                   // sends the prompt
}

func (c *composer) tooLong(bytes int) {
	c.showMessage("the paste of " + ui.Size(bytes) + " is too long and was dropped; save it as a file and name the file")
}

func (c *composer) commands() []command {
	return []command{
		{name: "vim", help: "vim keys in the prompt, or the usual ones", run: noArgs(c.toggleVim)},
		{name: "attach", args: "path", help: "attach a picture or PDF to your message", can: func() string { return ui.ReasonIf(c.ports.Drop == nil, "files cannot be attached here") }, run: c.attachCommand},
		{name: "edit", hidden: true, help: "write the prompt in your own editor", can: c.canEdit, run: noArgs(c.edit)},
	}
}

// empty returns why a key for an empty prompt is unavailable, or "".
func (c *composer) empty() string {
	return ui.ReasonIf(!c.prompt.Empty(), "only while the prompt is empty")
}

// hasMessage reports whether the user has begun a message, or a word in a list.
func (c *composer) hasMessage() bool {
	return !c.prompt.Empty() || c.picker.Open && !c.picker.Filter.Empty()
}

// happened carries out the effects of a key in the prompt.
func (c *composer) happened(h prompt.KeyEffect) tea.Cmd {
	if h.Message != "" {
		c.showMessage(h.Message)
	}
	switch {
	case h.Send:
		return c.send()
	case h.Files:
		return c.listFiles()
	case h.Folder != "" && c.ports.Folder != nil:
		return async.Ask(func() prompt.Folder {
			base, names, err := c.ports.Folder(context.Background(), h.Folder)
			return prompt.NewFolder(h.Folder, base, names, err)
		}, func(f prompt.Folder) tea.Cmd { c.prompt.Listing(f); return nil })
	}
	return nil
}

// complete updates the completions after a change.
func (c *composer) complete() tea.Cmd { return c.happened(c.prompt.Complete()) }

// listFiles lists the project's files in the background.
func (c *composer) listFiles() tea.Cmd {
	if c.ports.Files == nil || !c.prompt.Menu.Look(c.clock()) {
		return nil
	}
	parts := make(chan prompt.Listed, 1)
	go func() {
		paths, err := c.ports.Files(context.Background(), func(some api.Files) {
			select {
			case parts <- prompt.NewListed(some, nil, true):
			default: // the reader is behind; a longer list follows
			}
		})
		parts <- prompt.NewListed(paths, err, false)
	}()
	return c.listed(parts)
}

// listed shows partial file lists until the last one arrives.
func (c *composer) listed(parts <-chan prompt.Listed) tea.Cmd {
	return async.Ask(func() prompt.Listed { return <-parts }, func(l prompt.Listed) tea.Cmd {
		if c.prompt.Listed(l, c.clock()) {
			return c.listed(parts)
		}
		return nil
	})
}

func (c *composer) toggleVim() tea.Cmd {
	if c.prompt.ToggleVim() {
		c.showMessage("vim keys; esc is normal mode, /vim ends them")
		return c.keep("interface.keys", "vim")
	}
	c.showMessage("the usual keys")
	return c.keep("interface.keys", "usual")
}

// edited is the result of the user's external editor.
type edited struct {
	text string
	err  error
}

func (c *composer) canEdit() string {
	return ui.ReasonIf(c.ports.Edit == nil || !c.lends(), errNoEditor.Error())
}

// edit opens the prompt in the user's external editor, with pastes unfolded.
func (c *composer) edit() tea.Cmd {
	var text string
	return c.lend(func() (err error) {
		text, err = c.ports.Edit(c.prompt.Unfolded())
		return err
	}, func(err error) tea.Cmd {
		if err != nil {
			c.showMessage("error: " + err.Error())
		} else if text = strings.TrimRight(text, "\n"); text != strings.TrimRight(c.prompt.Unfolded(), "\n") {
			c.prompt.Put(text)
		}
		return nil
	})
}

// longestPath limits the text that is tested as a path, in bytes (PATH_MAX of Linux).
const longestPath = 4096

// drop checks in the background whether a pasted text is the path of a file dropped on the
// terminal.
func (c *composer) drop(text string) tea.Cmd {
	text = strings.TrimSpace(text)
	if c.ports.Drop == nil || len(text) > longestPath || strings.Contains(text, "\n") || !strings.ContainsAny(text, `/\`) {
		return nil
	}
	return async.Ask(func() (found []api.Dropped) {
		if file, ok := c.ports.Drop(text); ok {
			found = append(found, file)
		}
		return found
	}, func(found []api.Dropped) tea.Cmd {
		for _, file := range found {
			c.prompt.Dropped(text, file)
		}
		return nil
	})
}

// pictureTime limits the wait for the clipboard; its owner may be on another machine.
const pictureTime = 10 * time.Second

// pastePicture attaches the picture on the clipboard.
func (c *composer) pastePicture() tea.Cmd {
	c.showMessage("reading the clipboard…")
	return async.Try(func() (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), pictureTime)
		defer cancel()
		return c.ports.Picture(ctx)
	}, func(path string, err error) tea.Cmd {
		if err != nil {
			c.showMessage("error: " + err.Error())
			return nil
		}
		c.prompt.Insert(c.prompt.Attach(path) + " ")
		c.showMessage("the picture goes with your message")
		return nil
	})
}

// attachCommand attaches a file to the current message.
func (c *composer) attachCommand(arg string) tea.Cmd {
	if arg == "" {
		c.showMessage("add the path of a picture or PDF")
		return nil
	}
	path := arg
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.info.Cwd, path)
	}
	file, ok := c.ports.Drop("'" + path + "'")
	switch {
	case !ok:
		c.showMessage(arg + " was not found; check the path")
		return nil
	case file.Attach == "":
		c.showMessage(arg + " is not a picture or PDF")
		return nil
	}
	c.prompt.Insert(c.prompt.Attach(file.Attach) + " ")
	c.showMessage(arg + " goes with your next message")
	return nil
}

// search lists earlier messages, newest first, filtered by the prompt's text.
func (c *composer) search() tea.Cmd {
	var items []list.Choice
	for _, text := range c.prompt.Recent() {
		items = append(items, list.Choice{ID: text, Label: strings.Join(strings.Fields(text), " ")})
	}
	c.picker.Begin("what you wrote before", items, func(it list.Choice) tea.Cmd {
		c.prompt.Set(it.ID)
		return c.complete()
	})
	if !strings.Contains(c.prompt.Text, "\n") {
		c.picker.NarrowTo(c.prompt.Text)
	}
	return nil
}

var errNoEditor = errors.New("no editor can be started here")

// rewrite opens a text in the user's external editor.
func (c *composer) rewrite(w *rewriting) tea.Cmd {
	if c.canEdit() != "" {
		w.reply <- edited{err: errNoEditor}
		return nil
	}
	var e edited
	return c.lend(func() (err error) {
		e.text, err = c.ports.Edit(w.text)
		return err
	}, func(err error) tea.Cmd {
		e.err = err
		w.reply <- e
		return nil
	})
}

// inLine returns a key handler for the prompt.
func (c *composer) inLine(do func(p *prompt.Line, w int) prompt.KeyEffect) func() tea.Cmd {
	return func() tea.Cmd { return c.happened(do(c.prompt, c.width())) }
}

// menuKeys returns the completion menu's keys. They take precedence over the prompt's keys while
// the menu is open.
func (c *composer) menuKeys() []binding {
	accept := func(p *prompt.Line, _ int) prompt.KeyEffect { return p.Accept() }
	run := func(p *prompt.Line, _ int) prompt.KeyEffect { return p.AcceptOrRun() }
	move := func(by int) func() tea.Cmd { return keyFunc(func() { c.prompt.Menu.Move(by) }) }
	choosable := func() string { return c.prompt.Menu.Choosable() }
	shown := func() string { return c.prompt.Menu.HiddenReason() }
	return []binding{
		{id: "complete.take", action: takeChoice, scope: inPrompt, part: completing, Binding: ui.Key("complete the / command or @ file", "tab"), can: choosable, run: c.inLine(accept)},
		{id: "complete.run", action: takeChoice, scope: inPrompt, part: completing, Binding: ui.Key("take the completion", "enter"), can: choosable, run: c.inLine(run)},
		{id: "complete.close", action: closePane, scope: inPrompt, part: completing, Binding: ui.Key("close the completions", "esc"), can: shown, run: keyFunc(func() { c.prompt.Menu.Close() })},
		{id: "complete.up", action: lineUp, scope: inPrompt, part: completing, Binding: ui.Key("the completion above", "up", "ctrl+p"), can: choosable, run: move(-1)},
		{id: "complete.down", action: lineDown, scope: inPrompt, part: completing, Binding: ui.Key("the completion below", "down", "ctrl+n"), can: choosable, run: move(1)},
	}
}
