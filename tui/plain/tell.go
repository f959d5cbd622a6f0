package plain

import (
	"fmt"
	"strings"
	"time"

	"adze/internal/text/safeterm"
	"adze/tui/draw"
)

// printText prints a text, sanitized for a terminal.
func (p *Interface) printText(text string) {
	for _, line := range safeterm.Clean(text).Lines() {
		fmt.Fprintln(p.Out, line.String())
	}
}

// print prints finished entries in order.
func (p *Interface) print() {
	for ; p.Printed < p.Transcript.Len(); p.Printed++ {
		rows, finished := p.Transcript.Line(p.Printed, Width, p.live)
		if !finished {
			return
		}
		for _, r := range rows {
			fmt.Fprintln(p.Out, strings.TrimRight(r.String(), " "))
		}
	}
}

// rows prints a pane's rows without bars, which repeat a number.
func (p *Interface) rows(rows []draw.Row) {
	for _, r := range rows {
		fmt.Fprintln(p.Out, strings.TrimRight(strings.ReplaceAll(r.String(), "█", ""), " "))
	}
}

// told prints messages, panes and lists that the interface would show.
func (p *Interface) told() {
	if text := p.Root.TakeMessage(); text != "" {
		p.printText(text + ".")
	}
	if heading, rows := p.View.TakeOut(Width); rows != nil {
		p.printText(heading + ":")
		p.rows(rows.Append(nil, 0, rows.Len()))
	}
	if p.List.Open && p.List.Serial != p.offered && !p.List.Looking() {
		p.offered = p.List.Serial
		p.offer()
	}
}

// ask prints the first permission request.
func (p *Interface) ask() {
	if p.Mute || p.leave {
		p.refuseAll()
		return
	}
	p.printText(p.Dialog.First().Title())
	body := p.Dialog.Body(Width)
	for _, r := range body.Append(nil, 0, body.Len()) {
		fmt.Fprintln(p.Out, r.String())
	}
	choices := "y allows it once"
	if p.Dialog.Grants() {
		choices += ", a allows all like this by the rule shown"
	}
	if offers := p.Dialog.Offered(); len(offers) > 1 {
		for n, offer := range offers {
			p.printText(fmt.Sprintf("%d: %s", n+1, safeterm.Name(offer).String()))
		}
		choices += ", a with a number (a 2) takes that rule"
	}
	p.printText(choices + ", n says no; anything else says no and tells the model why:")
	p.asked = time.Now()
}

// inquire prints the model's first question.
func (p *Interface) inquire() {
	if p.Mute || p.leave {
		p.refuseAll()
		return
	}
	q := p.Inquiry.First()
	who := "The model"
	if q.Agent != "" {
		who = "The subagent " + q.Agent
	}
	if q.Title != "" {
		p.printText("Here is " + q.Title + ":")
	} else {
		p.printText(who + " asks:")
	}
	for _, line := range safeterm.Reveal(strings.TrimSpace(q.Text)).Lines() {
		fmt.Fprintln(p.Out, line.String())
	}
	for n, choice := range q.Choices {
		p.printText(fmt.Sprintf("%d: %s", n+1, safeterm.Name(choice).String()))
	}
	if q.Said != "" {
		p.printText(q.Said + ".")
	}
	switch {
	case q.Title != "":
		p.printText("Write a number, " + q.Other + ":")
	case len(q.Choices) > 0:
		p.printText("Write a number, or an answer in your own words:")
	default:
		p.printText("Write your answer:")
	}
	p.asked = time.Now()
}

// offer prints the open list.
func (p *Interface) offer() {
	k := p.List
	p.printText(k.Title + ":")
	if k.Wait != "" {
		p.printText(k.Wait)
	}
	for n, c := range k.Choices() {
		line := safeterm.Name(strings.TrimSpace(c.Label + ", " + c.Note)).String()
		if c.DisabledReason != "" {
			line += " (not now: " + c.DisabledReason + ")"
		}
		p.printText(fmt.Sprintf("%d: %s", n+1, strings.TrimSuffix(line, ", ")))
	}
	p.printText("Write a number, or an empty line to leave it:")
}

func (p *Interface) help() {
	p.Todos.List() // reads pending events: their todos decide which commands are available
	p.printText("A line is a message. While the agent works, it waits; a line that begins with > is read before the next step.")
	p.printText("!command runs your own command. Ctrl+c stops the agent, or leaves when it is idle. Commands:")
	for _, c := range p.Root.Commands() {
		if onScreen(c.ID) == "" {
			p.printText(c.Label + ": " + c.Note + ".")
		}
	}
}

func (p *Interface) todos() {
	items := p.Todos.List()
	if len(items) == 0 {
		p.printText("There are no todos.")
	}
	for _, it := range items {
		p.printText(strings.TrimSpace(strings.ReplaceAll(it.State, "_", " ") + ": " + it.Text))
	}
}
