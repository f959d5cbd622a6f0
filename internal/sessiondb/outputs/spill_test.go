package outputs

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestTheOutputsOfASessionAreBounded(t *testing.T) {
	s := NewFiles(filepath.Join(t.TempDir(), "s1"))
	s.most = 10
	if _, err := s.Save(t.Context(), "c1", "ten bytes!"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Save(t.Context(), "c2", "more"); err == nil || !strings.Contains(err.Error(), "the most") {
		t.Errorf("err = %v", err)
	}
}
