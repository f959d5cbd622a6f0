package acp

import (
	sdk "github.com/coder/acp-go-sdk"

	"adze/tool"
)

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
