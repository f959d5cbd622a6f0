package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
)

// StageName returns the name of a session's stage among a workspace's views.
func StageName(session string) string {
	sum := sha256.Sum256([]byte(session))
	return "view-stage-" + hex.EncodeToString(sum[:10])
}
