package acp

import (
	"time"

	sdk "github.com/coder/acp-go-sdk"
)

// title tells how the session is called in lists.
func (t *thread) title() {
	title := t.now().Title()
	if title == "" {
		return
	}
	t.post(sdk.SessionUpdate{SessionInfoUpdate: &sdk.SessionSessionInfoUpdate{Title: &title, UpdatedAt: sdk.Ptr(time.Now().UTC().Format(time.RFC3339))}})
}
