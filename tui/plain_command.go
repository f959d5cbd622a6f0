package tui

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/internal/safeterm"
	"adze/tui/draw"
)

// notPlain are the commands of the interface that change what a screen shows, with what there is instead.
func notPlain(name string) string {
	switch name {
	case "theme", "vim":
		return "This changes a screen; here are only lines."
	case "copy":
		return "Copy with your terminal: all lines are there."
	case "edit":
		return "An editor needs the screen: write it to a file and name that."
	}
	return ""
}

// command obeys a line that begins with a slash, as the interface does.
func (p *plain) command(name, arg string) {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	full, ok := named(name, names)
	switch {
	case !ok:
		p.say("There is no command /" + name + "; /help lists them.")
	case notPlain(full) != "":
		p.say(notPlain(full))
	case full == "help":
		p.help()
	case full == "todos":
		p.todos()
	case full == "quit":
		p.quit()
	default:
		kept := p.m.prompt.Text // what is attached to the next message
		cmd := p.m.command(full, arg)
		p.m.prompt.Set(strings.TrimSpace(kept + " " + p.m.prompt.Text))
		p.run(cmd)
	}
}

func (p *plain) help() {
	p.m.todos.List() // whether there are any decides what can be done
	p.say("A line is a message. While the agent works it waits; > before it has the agent read it before its next step.")
	p.say("!command runs a command of your own. Ctrl+c stops the agent, and leaves when it does not work. Commands:")
	for _, c := range commandChoices(p.m, "") {
		if notPlain(c.ID) == "" {
			p.say(c.Label + ": " + c.Note + ".")
		}
	}
}

func (p *plain) todos() {
	items := p.m.todos.List()
	if len(items) == 0 {
		p.say("There are no todos.")
	}
	for _, it := range items {
		p.say(strings.TrimSpace(strings.ReplaceAll(it.State, "_", " ") + ": " + it.Text))
	}
}

func (p *plain) quit() {
	p.leave = true
	if p.m.turn.running {
		p.m.leaving = true
		p.m.turn.cancel()
	}
}

// run does what the interface would have done by Bubble Tea; answers come back through the loop.
func (p *plain) run(cmd tea.Cmd) {
	if cmd == nil {
		p.told()
		return
	}
	go func() {
		select {
		case p.answers <- cmd():
		case <-p.ui.gone:
		}
	}()
	p.told()
}

// answered takes what a command of the interface led to.
func (p *plain) answered(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case tea.QuitMsg:
		p.leave = true
	case tea.BatchMsg:
		for _, cmd := range msg {
			p.run(cmd)
		}
	default:
		_, cmd := p.m.Update(msg)
		if _, ok := msg.(rewound); ok {
			p.shown = min(p.shown, p.m.transcript.Len())
			if text := p.m.prompt.Text; text != "" {
				p.say("Your message was: " + text)
				p.m.prompt.Set("")
			}
		}
		p.run(cmd)
	}
}

// told says as lines what the interface would show.
func (p *plain) told() {
	m := p.m
	if m.said != "" {
		p.say(m.said + ".")
		m.said = ""
	}
	if heading, rows := m.view.TakeOut(plainWidth); rows != nil {
		p.say(heading + ":")
		p.rows(rows.Append(nil, 0, rows.Len()))
	}
	if m.picker.Open && m.picker.Serial != p.offered && !m.picker.Looking() {
		p.offered = m.picker.Serial
		p.offer()
	}
}

// rows prints what a pane shows, without bars: a number stands beside each.
func (p *plain) rows(rows []draw.Row) {
	for _, r := range rows {
		fmt.Fprintln(p.out, strings.TrimRight(strings.ReplaceAll(r.String(), "█", ""), " "))
	}
}

// offer lists what can be chosen.
func (p *plain) offer() {
	k := p.m.picker
	p.say(k.Title + ":")
	if k.Wait != "" {
		p.say(k.Wait)
	}
	for n, c := range k.Choices() {
		line := safeterm.Name(strings.TrimSpace(c.Label + ", " + c.Note)).String()
		if c.Off != "" {
			line += " (not now: " + c.Off + ")"
		}
		p.say(fmt.Sprintf("%d: %s", n+1, strings.TrimSuffix(line, ", ")))
	}
	p.say("Write a number, or an empty line to leave it:")
}

// pick takes a line as the answer to what was offered.
func (p *plain) pick(text string) {
	k := p.m.picker
	if text == "" {
		p.m.closePicker()
		p.say("Nothing was chosen.")
		return
	}
	n, err := strconv.Atoi(text)
	if err != nil || !k.Mark(n-1) {
		p.say("This is none of the numbers.")
		return
	}
	if why := p.m.picker.CanPick(); why != "" {
		p.say("This cannot be chosen: " + why)
		return
	}
	p.run(p.m.picker.Pick())
}
