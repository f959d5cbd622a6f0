package sessiondb_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"adze/internal/sessiondb"
)

// TestManyMakeAStoreAtOnce: one of those who change how a new file is written has to give way, and
// none of them may fail for that.
func TestManyMakeAStoreAtOnce(t *testing.T) {
	for round := range 40 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(round), "s.db")
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				s, err := sessiondb.Open(t.Context(), path, sessiondb.Options{})
				if err != nil {
					t.Error(err)
					return
				}
				s.Close()
			})
		}
		wg.Wait()
	}
}
