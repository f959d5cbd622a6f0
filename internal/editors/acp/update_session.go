package acp

import (
	"cmp"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"adze/session"
	"adze/tool"
)

// Session updates other than messages and calls.

// modes sends a changed mode, such as after an accepted plan.
func (t *updateEncoder) modes() {
	mode := t.conversation.Mode()
	if mode == t.mode {
		return
	}
	t.mode = mode
	t.thread.post(sdk.SessionUpdate{CurrentModeUpdate: &sdk.SessionCurrentModeUpdate{CurrentModeId: sdk.SessionModeId(mode)}})
	t.thread.post(t.thread.optionUpdate(t.conversation))
}

// over is called when a turn has ended.
func (t *updateEncoder) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.modes()
}

// used sends the context's fill level and the session's cost. The protocol has no update for a
// context of unknown size.
func (t *updateEncoder) used(l session.Ledger) {
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

// planned sends a todo list as the plan. The protocol has no abandoned state: such a todo is sent
// as done, with its result in the text.
func (t *updateEncoder) planned(blocks []tool.Block) {
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

// commands sends the user's and the project's commands and skills. The editor runs one with a
// prompt of /name and its arguments.
func (t *thread) commands() {
	list := []sdk.AvailableCommand{}
	for _, c := range t.current().Commands() {
		of := sdk.AvailableCommand{Name: c.Name, Description: cmp.Or(c.Help, c.From, c.Name)}
		if strings.TrimSpace(c.Args) == "" && c.Args != "" { // it takes no arguments
			list = append(list, of)
			continue
		}
		of.Input = &sdk.AvailableCommandInput{Unstructured: &sdk.UnstructuredCommandInput{Hint: cmp.Or(c.Args, "what it is about")}}
		list = append(list, of)
	}
	t.post(sdk.SessionUpdate{AvailableCommandsUpdate: &sdk.SessionAvailableCommandsUpdate{AvailableCommands: list}})
}

func (t *thread) title() {
	if title := t.current().Title(); title != "" {
		t.named(title)
	}
}

func (t *thread) named(title string) {
	t.post(sdk.SessionUpdate{SessionInfoUpdate: &sdk.SessionSessionInfoUpdate{Title: &title, UpdatedAt: sdk.Ptr(time.Now().UTC().Format(time.RFC3339))}})
}
