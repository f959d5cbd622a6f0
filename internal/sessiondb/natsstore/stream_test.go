package natsstore

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet/natsclient"
	"adze/internal/testkit/effort"
	"adze/internal/testkit/natstest"
	"adze/internal/testkit/storetest"
	"adze/session"
)

func opened(t testing.TB, url string, o Options) *Store {
	t.Helper()
	conn, err := natsclient.Dial(t.Context(), natsclient.Options{URL: url, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if o.Wait == 0 {
		o.Wait = time.Minute
	}
	s, err := Open(t.Context(), conn, true, o)
	if err != nil {
		conn.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// emptied gives a server without streams for each case: starting one takes longer than most cases.
func emptied(c *natstest.Cluster) func(*testing.T) storetest.Backing {
	return func(t *testing.T) storetest.Backing {
		conn, err := natsclient.Dial(t.Context(), natsclient.Options{URL: c.URL(), Wait: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		err = c.Clear(t.Context(), conn.JetStream())
		conn.Close()
		if err != nil {
			t.Fatal(err)
		}
		return storetest.Backing{Durable: true, Open: func() (session.Store, error) {
			conn, err := natsclient.Dial(t.Context(), natsclient.Options{URL: c.URL(), Wait: time.Minute})
			if err != nil {
				return nil, err
			}
			return Open(t.Context(), conn, true, Options{Wait: time.Minute})
		}}
	}
}

func TestContractOnOneServer(t *testing.T) {
	storetest.Run(t, emptied(natstest.Start(t, natstest.Options{})))
}

func TestContractOnThreeServers(t *testing.T) {
	effort.Needs(t, effort.Short, "each case has three servers elect leaders")
	storetest.Run(t, emptied(natstest.StartCluster(t, natstest.Options{})))
}

// TestASmallSessionNeedsNoStoreOfLargeContents: that one can be without a leader, and the session
// is opened and written.
func TestASmallSessionNeedsNoStoreOfLargeContents(t *testing.T) {
	s := opened(t, natstest.Start(t, natstest.Options{}).URL(), Options{})
	if err := s.Append(t.Context(), "one", storetest.Entry(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.conn.JetStream().ObjectStore(t.Context(), "ADZE_BLOB"); !errors.Is(err, jetstream.ErrBucketNotFound) {
		t.Errorf("got %v", err)
	}
}
