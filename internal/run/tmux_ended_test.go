package run_test

import "testing"

// TestAnErrorIsThereWhenASessionIsResumed: how a turn ended is shown again, behind what was asked
// in it.
func TestAnErrorIsThereWhenASessionIsResumed(t *testing.T) {
	u := newUser(t)
	p := u.openPane(100, 30)
	p.adze(u.script("-- 1 --\ntext: answer one\n"))
	p.text("one")
	p.keys("Enter")
	p.sees("answer one", "F1: keys")
	p.text("two")
	p.keys("Enter")
	p.sees("error: ", "has no step 2")
	id := u.newest()
	p.quit()

	again := u.openPane(100, 30)
	again.adze("--resume", id, u.script("-- 1 --\ntext: answer three\n"))
	again.sees("answer one", "two", "error: ", "has no step 2")
	again.text("three")
	again.keys("Enter")
	again.sees("answer three")
	again.quit()
}
