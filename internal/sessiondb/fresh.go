package sessiondb

import (
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/s2"

	"adze/internal/osfile/atomicfile"
)

// The very first start does not run the schema: SQLite would sync a rollback journal, its folder
// and the file to change the journal mode, and then the log with the tables. An empty database is
// always the same except for its identity, so it is written as a whole, with one sync of the file
// and one of its folder.

// emptyStore is a compressed database after all steps. TestTheEmptyStoreIsWhatTheSchemaMakes writes
// it with -update.
//
//go:embed empty.db.s2
var emptyStore []byte

// noIdentity is its placeholder for the identity.
const noIdentity = "00000000000000000000000000000000"

// fresh creates a database if there is none. If it fails or another process is first, Open
// continues normally and reports errors.
func fresh(path string, network func(string) bool) {
	// Remove a deleted database's log, which does not belong to the new file.
	for _, left := range []string{"-wal", "-journal"} {
		if _, err := os.Lstat(path + left); !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
	if image, err := emptyImage(network(path)); err == nil {
		_ = atomicfile.Create(path, image)
	}
}

// emptyImage returns an empty database with a new identity.
func emptyImage(network bool) ([]byte, error) {
	image, err := s2.Decode(nil, emptyStore)
	if err != nil {
		return nil, fmt.Errorf("empty store: %w", err)
	}
	var id [len(noIdentity) / 2]byte
	rand.Read(id[:]) // never fails
	at := strings.Index(string(image), noIdentity)
	if at < 0 || len(image) < 100 {
		return nil, errors.New("empty store: it has no place for an identity")
	}
	hex.Encode(image[at:], id[:])
	image[18], image[19] = 2, 2 // write-ahead log
	if network {
		image[18], image[19] = 1, 1 // rollback journal
	}
	return image, nil
}
