package storetest

import (
	"errors"
	"testing"

	"adze/session"
)

func survivesReopening(t *testing.T, b Backing) {
	if !b.Durable {
		t.Skip("this store keeps nothing")
	}
	for n := range 4 {
		s := open(t, b)
		add(t, s, "one", Entry(2*n))
		add(t, s, "one", Entry(2*n+1))
		want(t, s, "one", entries(0, 2*n+1))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func hasOneWriter(t *testing.T, b Backing) {
	if !b.Durable {
		t.Skip("nobody else can open this store")
	}
	first, second := open(t, b), open(t, b)
	add(t, first, "one", Entry(1))
	for name, err := range map[string]error{
		"lock": second.Lock(t.Context(), "one"), "append": second.Append(t.Context(), "one", Entry(2)),
	} {
		if !errors.Is(err, session.ErrLocked) {
			t.Errorf("%s: got %v, want ErrLocked", name, err)
		}
	}
	add(t, second, "two", Entry(1))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	add(t, second, "one", Entry(2))
	want(t, second, "one", entries(1, 2))
}

func letsOthersRead(t *testing.T, b Backing) {
	if !b.Durable {
		t.Skip("nobody else can open this store")
	}
	writer, reader := open(t, b), open(t, b)
	add(t, writer, "one", entries(1, 3)...)
	want(t, reader, "one", entries(1, 3))
	add(t, writer, "one", Entry(4))
	want(t, reader, "one", entries(1, 4))
}
