package fleettest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

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

type blobs struct{ m *Memory }

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
	b.m.blobs[name] = raw
	return name, nil
}

func (b blobs) Fetch(_ context.Context, name string, to io.Writer) error {
	end, err := b.m.begin()
	if err != nil {
		return err
	}
	raw, there := b.m.blobs[name]
	end()
	if !there {
		return fleet.ErrNone
	}
	_, err = io.Copy(to, bytes.NewReader(raw))
	return err
}
