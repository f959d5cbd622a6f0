package acp

import (
	sdk "github.com/coder/acp-go-sdk"

	"adze/session"
)

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
		t.thread.agent.out.post(note{session: t.thread.id, update: sdk.SessionUpdate{UsageUpdate: &u}, key: "usage"})
	}
}
