package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
)

// StageName is the name of a session's stage among the views of a workspace.
func StageName(session string) string {
	sum := sha256.Sum256([]byte(session))
	return "view-stage-" + hex.EncodeToString(sum[:10])
}
