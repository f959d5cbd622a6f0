package effort

import "testing"

func TestTheVariableSaysHowManyRoundsThereAre(t *testing.T) {
	for value, want := range map[string]int{"": 1, "short": 2, "long": 3} {
		t.Setenv(Variable, value)
		if got := Rounds(1, 2, 3); got != want {
			t.Errorf("%q: %d rounds, want %d", value, got, want)
		}
	}
	t.Setenv(Variable, "lang")
	defer func() {
		if recover() == nil {
			t.Error("a value that is none passes for one")
		}
	}()
	Rounds(1, 2, 3)
}

func TestATestIsSkippedBelowWhatItNeeds(t *testing.T) {
	for value, want := range map[string]bool{"": true, "short": false, "long": false} {
		t.Setenv(Variable, value)
		var skipped bool
		t.Run(value, func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			Needs(t, Short, "it is an example")
		})
		if skipped != want {
			t.Errorf("%q: skipped is %v", value, skipped)
		}
	}
}

func TestASeedIsTheOneThatIsSet(t *testing.T) {
	t.Setenv(seedVariable, "7")
	if got := Seed(t, 1); got != 7 {
		t.Errorf("the seed is %d", got)
	}
}
