package pairing_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/editors/pairing"
)

// clock is one that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func exchange(t *testing.T) (*pairing.Exchange, *clock) {
	t.Helper()
	c := &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	return &pairing.Exchange{Devices: &pairing.Devices{Path: filepath.Join(t.TempDir(), "devices.json"), Now: c.now}, Now: c.now}, c
}

func TestADeviceGetsATokenWhenTheUserConfirmed(t *testing.T) {
	x, _ := exchange(t)
	code, _ := x.Begin([]pairing.Scope{pairing.Look})
	secret, word, err := x.Claim(strings.ToLower(code[:5]+"-"+code[5:]), "phone\x1b[31m of  mine")
	if err != nil {
		t.Fatal(err)
	}
	c, err := x.Claimed(t.Context())
	if err != nil || c.Word != word || strings.ContainsRune(c.Name, 0x1b) {
		t.Fatalf("the user sees %+v, the device %q, %v", c, word, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := x.Collect(ended, secret); !errors.Is(err, pairing.ErrWaiting) {
		t.Fatalf("before the user's answer: %v", err)
	}
	if err := x.Decide(true); err != nil {
		t.Fatal(err)
	}
	token, d, err := x.Collect(t.Context(), secret)
	if err != nil || !d.Has(pairing.Look) || d.Has(pairing.Answer) || d.Has(pairing.Prompt) {
		t.Fatalf("%+v %v", d, err)
	}
	if found, err := x.Devices.Find(token); err != nil || found.ID != d.ID {
		t.Fatalf("%+v %v", found, err)
	}
	if _, _, err := x.Collect(t.Context(), secret); !errors.Is(err, pairing.ErrClosed) {
		t.Fatalf("a second token: %v", err)
	}
	raw, err := os.ReadFile(x.Devices.Path)
	if err != nil || strings.Contains(string(raw), token) || strings.Contains(string(raw), secret) {
		t.Fatalf("the file holds the token: %v\n%s", err, raw)
	}
	if info, err := os.Stat(x.Devices.Path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Fatalf("others may read it: %v %v", info.Mode(), err)
	}
}

func TestAttacksOnAPairing(t *testing.T) {
	for name, attack := range map[string]struct {
		want error
		do   func(x *pairing.Exchange, c *clock, code string) error
	}{
		"a code that was used": {pairing.ErrUsed, func(x *pairing.Exchange, _ *clock, code string) error {
			_, _, _ = x.Claim(code, "first")
			_, _, err := x.Claim(code, "second")
			return err
		}},
		"a code that was used and confirmed": {pairing.ErrUsed, func(x *pairing.Exchange, _ *clock, code string) error {
			secret, _, _ := x.Claim(code, "first")
			_ = x.Decide(true)
			_, _, _ = x.Collect(context.Background(), secret)
			_, _, err := x.Claim(code, "second")
			return err
		}},
		"a code that is too old": {pairing.ErrExpired, func(x *pairing.Exchange, c *clock, code string) error {
			c.move(pairing.Lifetime)
			_, _, err := x.Claim(code, "late")
			return err
		}},
		"guessing": {pairing.ErrLocked, func(x *pairing.Exchange, _ *clock, code string) error {
			for range 5 {
				_, _, _ = x.Claim("AAAAAAAAAA", "guess")
			}
			_, _, err := x.Claim(code, "the right one at last")
			return err
		}},
		"one wrong code": {pairing.ErrWrong, func(x *pairing.Exchange, _ *clock, code string) error {
			_, _, err := x.Claim(code[:9], "short")
			return err
		}},
		"no code": {pairing.ErrWrong, func(x *pairing.Exchange, _ *clock, _ string) error {
			_, _, err := x.Claim("", "")
			return err
		}},
		"the code of the pairing before": {pairing.ErrWrong, func(x *pairing.Exchange, _ *clock, code string) error {
			x.Begin(nil)
			_, _, err := x.Claim(code, "old")
			return err
		}},
		"a device that the user refused": {pairing.ErrRefused, func(x *pairing.Exchange, _ *clock, code string) error {
			secret, _, _ := x.Claim(code, "foe")
			_ = x.Decide(false)
			_, _, err := x.Collect(context.Background(), secret)
			return err
		}},
		"a pairing that the user ended": {pairing.ErrRefused, func(x *pairing.Exchange, _ *clock, code string) error {
			secret, _, _ := x.Claim(code, "foe")
			x.End()
			_, _, err := x.Collect(context.Background(), secret)
			return err
		}},
		"a code after the end": {pairing.ErrClosed, func(x *pairing.Exchange, _ *clock, code string) error {
			x.End()
			_, _, err := x.Claim(code, "foe")
			return err
		}},
		"another secret": {pairing.ErrClosed, func(x *pairing.Exchange, _ *clock, code string) error {
			_, _, _ = x.Claim(code, "first")
			_ = x.Decide(true)
			_, _, err := x.Collect(context.Background(), "guess")
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			x, c := exchange(t)
			code, _ := x.Begin(pairing.Scopes())
			if err := attack.do(x, c, code); !errors.Is(err, attack.want) {
				t.Errorf("%v, want %v", err, attack.want)
			}
		})
	}
	var none pairing.Exchange
	if _, _, err := none.Claim("", ""); !errors.Is(err, pairing.ErrClosed) {
		t.Errorf("no pairing was ever open: %v", err)
	}
}

func TestTwoDevicesAtOnce(t *testing.T) {
	for range 50 {
		x, _ := exchange(t)
		code, _ := x.Begin(nil)
		var in sync.WaitGroup
		results := make([]error, 8)
		for i := range results {
			in.Go(func() { _, _, results[i] = x.Claim(code, "phone") })
		}
		in.Wait()
		got := 0
		for _, err := range results {
			if err == nil {
				got++
			} else if !errors.Is(err, pairing.ErrUsed) {
				t.Fatal(err)
			}
		}
		if got != 1 {
			t.Fatalf("%d devices have claimed one code", got)
		}
	}
}

func TestTheUserIsToldWhyNoDeviceComes(t *testing.T) {
	x, c := exchange(t)
	x.Begin(nil)
	told := make(chan error, 1)
	go func() { _, err := x.Claimed(context.Background()); told <- err }()
	for range 5 {
		_, _, _ = x.Claim("AAAAAAAAAA", "")
	}
	if err := <-told; !errors.Is(err, pairing.ErrLocked) {
		t.Error(err)
	}
	x.Begin(nil)
	c.move(pairing.Lifetime)
	if _, err := x.Claimed(t.Context()); !errors.Is(err, pairing.ErrExpired) {
		t.Error(err)
	}
}

func TestARevokedDeviceIsOut(t *testing.T) {
	dir := t.TempDir()
	of := func() *pairing.Devices { return &pairing.Devices{Path: filepath.Join(dir, "devices.json")} }
	server, command := of(), of() // two processes
	token, d, err := server.Add("phone", pairing.Scopes())
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := server.Add("tablet", pairing.Scopes())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.Find(token); err != nil {
		t.Fatal(err)
	}
	if _, err := command.Revoke("nothing"); !errors.Is(err, pairing.ErrNoDevice) {
		t.Error(err)
	}
	if gone, err := command.Revoke(d.ID[:6]); err != nil || gone.ID != d.ID {
		t.Fatalf("%+v %v", gone, err)
	}
	if _, err := server.Find(token); !errors.Is(err, pairing.ErrUnknown) {
		t.Errorf("the token is still good: %v", err)
	}
	if _, err := server.Find(other); err != nil {
		t.Errorf("the other device is out, too: %v", err)
	}
	if _, err := server.Find(""); !errors.Is(err, pairing.ErrUnknown) {
		t.Error(err)
	}
}

func TestABrokenListLetsNobodyIn(t *testing.T) {
	b := &pairing.Devices{Path: filepath.Join(t.TempDir(), "devices.json")}
	token, _, err := b.Add("phone", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.Path, []byte(`[{"id":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Find(token); err == nil || errors.Is(err, pairing.ErrUnknown) || !strings.Contains(err.Error(), b.Path) {
		t.Errorf("%v", err)
	}
	if _, _, err := b.Add("another", nil); err == nil {
		t.Error("a list that cannot be read was replaced")
	}
}

func TestACodeIsDrawn(t *testing.T) {
	text, err := pairing.QR("https://192.0.2.1:4443/pair#ABCDE12345")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 19 { // 29 modules of version 3 and 8 of the border, two in each line
		t.Errorf("%d lines", len(lines))
	}
	if !strings.Contains(lines[2], "    █▀▀▀▀▀█") { // a finder pattern behind the border
		t.Errorf("%q", lines[2])
	}
}
