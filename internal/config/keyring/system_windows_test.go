package keyring

import (
	"errors"
	"os"
	"strconv"
	"testing"
)

// TestTheCredentialManager puts a key into the key ring of Windows, and takes it out again.
func TestTheCredentialManager(t *testing.T) {
	ring := OfSystem(os.Getenv, nil)
	if ring == nil || ring.Name() != "the Credential Manager" {
		t.Fatalf("the key ring is %v", ring)
	}
	account := "test-" + strconv.Itoa(os.Getpid())
	if _, err := ring.Get(account); !errors.Is(err, ErrNone) {
		t.Fatalf("a key that is not there: %v", err)
	}
	if err := ring.Set(account, "sk-ünï"); err != nil {
		t.Skipf("no key can be kept here: %v", err)
	}
	if key, err := ring.Get(account); err != nil || key != "sk-ünï" {
		t.Errorf("%q, %v", key, err)
	}
	if err := ring.Delete(account); err != nil {
		t.Error(err)
	}
	if _, err := ring.Get(account); !errors.Is(err, ErrNone) {
		t.Errorf("a key that was deleted: %v", err)
	}
}
