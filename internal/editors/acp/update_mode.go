package acp

import sdk "github.com/coder/acp-go-sdk"

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
