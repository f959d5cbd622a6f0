package acp

import (
	"cmp"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"adze/session"
	"adze/tool"
)

// Updates of a session beside those of its messages and calls.

// modes tells a mode that is another one now, as after a plan was accepted.
func (t *teller) modes() {
	mode := t.with.Mode()
	if mode == t.mode {
		return
	}
	t.mode = mode
	t.thread.post(sdk.SessionUpdate{CurrentModeUpdate: &sdk.SessionCurrentModeUpdate{CurrentModeId: sdk.SessionModeId(mode)}})
	t.thread.post(t.thread.optionUpdate(t.with))
}

// over is called when a turn has ended.
func (t *teller) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.modes()
}

// used tells how full the model's context is, and what the session cost so far. Where the size of
// the context is not known, the protocol has no word for it.
func (t *teller) used(l session.Ledger) {
	if l.Window <= 0 {
		return
	}
	u := sdk.SessionUsageUpdate{Used: l.Estimate, Size: l.Window}
	cost := 0.0
	if l.Cost != nil {
		cost = *l.Cost
		u.Cost = &sdk.Cost{Amount: cost, Currency: "USD"}
	}
	if now := [3]float64{float64(u.Used), float64(u.Size), cost}; now != t.usage {
		t.usage = now
		t.thread.post(sdk.SessionUpdate{UsageUpdate: &u})
	}
}

// planned tells a list of todos as the plan. The protocol has no word for one that was given up: it
// is told as done, with what came of it in its text.
func (t *teller) planned(blocks []tool.Block) {
	for _, b := range blocks {
		if b.Kind != tool.ChecklistBlock {
			continue
		}
		entries := []sdk.PlanEntry{}
		for _, item := range b.Items {
			e := sdk.PlanEntry{Content: item.Text, Priority: sdk.PlanEntryPriorityMedium, Status: sdk.PlanEntryStatusPending}
			switch p := sdk.PlanEntryPriority(item.Note); p {
			case sdk.PlanEntryPriorityHigh, sdk.PlanEntryPriorityLow:
				e.Priority = p
			}
			switch item.State {
			case "in_progress":
				e.Status = sdk.PlanEntryStatusInProgress
			case "completed":
				e.Status = sdk.PlanEntryStatusCompleted
			case "cancelled":
				e.Status, e.Content = sdk.PlanEntryStatusCompleted, "given up: "+item.Text
			}
			entries = append(entries, e)
		}
		t.thread.post(sdk.UpdatePlan(entries...))
	}
}

// commands tells what a prompt can begin with: the commands and skills of the user and the
// project. They are run by sending them as they are written, /name and its arguments.
func (t *thread) commands() {
	list := []sdk.AvailableCommand{}
	for _, c := range t.now().Commands() {
		of := sdk.AvailableCommand{Name: c.Name, Description: cmp.Or(c.Help, c.From, c.Name)}
		if strings.TrimSpace(c.Args) == "" && c.Args != "" { // it takes none
			list = append(list, of)
			continue
		}
		of.Input = &sdk.AvailableCommandInput{Unstructured: &sdk.UnstructuredCommandInput{Hint: cmp.Or(c.Args, "what it is about")}}
		list = append(list, of)
	}
	t.post(sdk.SessionUpdate{AvailableCommandsUpdate: &sdk.SessionAvailableCommandsUpdate{AvailableCommands: list}})
}

// title tells how the session is called in lists.
func (t *thread) title() {
	if title := t.now().Title(); title != "" {
		t.named(title)
	}
}

// named tells a title.
func (t *thread) named(title string) {
	t.post(sdk.SessionUpdate{SessionInfoUpdate: &sdk.SessionSessionInfoUpdate{Title: &title, UpdatedAt: sdk.Ptr(time.Now().UTC().Format(time.RFC3339))}})
}
