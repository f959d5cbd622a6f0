package fleettest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"time"

	"adze/internal/fleet"
)

type lease struct {
	m    *Memory
	key  string
	lost chan struct{}
}

// Hold takes a lease.
func (m *Memory) Hold(_ context.Context, key string) (fleet.Lease, error) {
	end, err := m.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	if m.leases[key] != nil {
		return nil, fleet.ErrHeld
	}
	l := &lease{m, key, make(chan struct{})}
	m.leases[key] = l
	return l, nil
}

func (l *lease) Lost() <-chan struct{} { return l.lost }

func (l *lease) Prove(context.Context) error {
	end, err := l.m.begin()
	if err != nil {
		return err
	}
	defer end()
	if l.m.leases[l.key] != l {
		return errors.New("the lease is lost")
	}
	return nil
}

func (l *lease) Release(context.Context) error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.m.leases[l.key] == l {
		delete(l.m.leases, l.key)
	}
	return nil
}

type blobs struct {
	m   *Memory
	all map[string]blob
}

type blob struct {
	raw  []byte
	kept time.Time
}

func (b blobs) Keep(_ context.Context, from io.ReadSeeker) (string, error) {
	raw, err := io.ReadAll(from)
	if err != nil {
		return "", err
	}
	end, err := b.m.begin()
	if err != nil {
		return "", err
	}
	defer end()
	sum := sha256.Sum256(raw)
	name := hex.EncodeToString(sum[:])
	b.all[name] = blob{raw, time.Now()}
	return name, nil
}

func (b blobs) Fetch(_ context.Context, name string, to io.Writer) error {
	end, err := b.m.begin()
	if err != nil {
		return err
	}
	got, there := b.all[name]
	end()
	if !there {
		return fleet.ErrNone
	}
	_, err = io.Copy(to, bytes.NewReader(got.raw))
	return err
}

func (b blobs) Sweep(_ context.Context, old func(string, time.Time) bool, named func() (map[string]bool, error)) (n int, err error) {
	end, err := b.m.begin()
	if err != nil {
		return 0, err
	}
	var aged []string
	for name, is := range b.all {
		if old(name, is.kept) {
			aged = append(aged, name)
		}
	}
	end()
	if len(aged) == 0 {
		return 0, nil
	}
	keep, err := named()
	if err != nil {
		return 0, err
	}
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	for _, name := range aged {
		if !keep[name] {
			delete(b.all, name)
			n++
		}
	}
	return n, nil
}
