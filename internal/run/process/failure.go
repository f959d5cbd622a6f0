package process

import (
	"errors"
	"fmt"

	"adze/internal/cmd"
	"adze/internal/config"
	"adze/internal/config/keyring"
	"adze/internal/llm/models"
	"adze/internal/osfile/ownfile"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/lookup"
	"adze/internal/text/usage"
	"adze/session"
)

// Failure converts an error from before the first turn to a result.
func Failure(err error) session.Result {
	r := session.Result{Cause: session.CauseInternal, Message: err.Error(), Err: err}
	var mistaken *usage.Error
	var mistake *config.Error
	var provider *session.ProviderError
	var none *models.MissingError
	var keys *keyring.OpenError
	var damaged *cmd.Damaged
	var broken *lookup.Broken
	var unsound *cmd.Unsound
	var unread *session.LogError
	var low *proc.LimitError
	var foreign *ownfile.Error // state folder
	switch {
	case errors.As(err, &low):
		r.Cause, r.Hint = session.CauseTool, low.Hint
	case errors.As(err, &mistaken):
		r.Cause, r.Message, r.Hint = session.CauseUsage, mistaken.Message, mistaken.Hint
	case errors.As(err, &mistake):
		r.Cause, r.Hint = session.CauseUsage, mistake.Hint
	case errors.As(err, &none):
		r.Cause, r.Hint = session.CauseNoModel, none.Hint
	case errors.As(err, &broken):
		r.Cause, r.Hint = session.CauseStore, broken.Hint()
	case errors.As(err, &damaged):
		r.Cause, r.Hint = session.CauseStore, forkHint(damaged.Row.Session)
	case errors.As(err, &unread):
		r.Cause, r.Hint = session.CauseStore, forkHint(unread.ID)
	case errors.As(err, &foreign):
		r.Cause, r.Hint = session.CauseStore, foreign.Hint
	case errors.As(err, &unsound):
		r.Cause, r.Hint = session.CauseStore, "adze audit show shows the session; its chain holds, so adze itself wrote this, or someone with its means"
	case errors.As(err, &keys):
		r.Cause, r.Hint = session.CauseNoModel, keys.Hint
	case errors.As(err, &provider):
		r = session.Sort(err)
	case errors.Is(err, session.ErrLocked):
		r.Cause, r.Hint = session.CauseStore, "adze sessions follow ID shows what it does, adze --resume ID in a terminal can take it over; else end it, or start a new session"
	case errors.Is(err, session.ErrNotFound):
		r.Cause, r.Hint = session.CauseUsage, "adze sessions list shows the sessions there are"
	case errors.Is(err, sessiondb.ErrOpen):
		r.Cause, r.Hint = session.CauseStore, "run with --no-session to go on without saving"
		if own := new(interface{ Hint() string }); errors.As(err, own) { // from a server
			r.Hint = (*own).Hint()
		}
	case errors.Is(err, sessiondb.ErrDamaged):
		r.Cause, r.Hint = session.CauseStore, "other sessions are read as ever; of this one a copy of the server's stream may have more"
	default:
		r = session.Sort(err)
	}
	return r
}

func forkHint(id session.ID) string {
	return fmt.Sprintf("adze sessions fork %s --at TURN copies it up to its last sound turn", id)
}
