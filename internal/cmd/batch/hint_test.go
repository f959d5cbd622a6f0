package batch

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"adze/internal/fleet"
	"adze/internal/fleet/batch"
	"adze/internal/fleet/natsclient"
	"adze/session"
)

// TestAHintFitsItsCause: of each cause that ends a command, by the words that name the next move
// and by those that would send the user elsewhere.
func TestAHintFitsItsCause(t *testing.T) {
	const other = "OTHER"
	for _, c := range []struct {
		err       error
		want, not string
	}{
		{fleet.ErrFull, "NATS server", "disk"},
		{fleet.ErrAway, "start the NATS server", "disk"},
		{natsclient.ErrFull, "NATS server", "disk"},
		{natsclient.ErrUnreachable, "start the NATS server", "folder"},
		{natsclient.ErrRefused, "ADZE_NATS_TOKEN_FILE", "disk"},
		{natsclient.ErrLost, "another process", "disk"},
		{syscall.ENOSPC, "disk of this machine", "server"},
		{fs.ErrPermission, "who may write", "server"},
		{syscall.EROFS, "who may write", "room"},
		{batch.ErrBusy, "wait until", "room"},
		{batch.ErrNobody, "user.name", "another folder"},
		{fmt.Errorf("something else"), other, "disk"},
	} {
		err := fmt.Errorf("outer: %w", c.err)
		if got := hint(err, other); !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("%v: %s", err, got)
		}
		if c.err == batch.ErrBusy || c.err == batch.ErrNobody {
			continue
		}
		got := session.StoreHint(err)
		if full := c.err == syscall.ENOSPC; full != strings.HasPrefix(got, "free disk space") && !strings.Contains(got, "permissions") {
			t.Errorf("of a session, %v: %s", err, got)
		}
	}
}
