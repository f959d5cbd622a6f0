package acp

import (
	"time"

	sdk "github.com/coder/acp-go-sdk"
)

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
