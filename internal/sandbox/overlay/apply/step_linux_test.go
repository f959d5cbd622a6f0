package apply

import (
	"encoding/json"
	"testing"
)

// A journal that an earlier program wrote before it was killed is read: what it calls Mover is a
// number.
func TestAnEarlierJournalIsRead(t *testing.T) {
	var j Journal
	err := json.Unmarshal([]byte(`{"Since":[1,2],"Steps":[{"Number":3,"Act":119,"Path":"a","Mover":2,"Parked":1}]}`), &j)
	if err != nil || len(j.Steps) != 1 || j.Steps[0].Number != 3 || j.Steps[0].Act != ActWrite || j.Steps[0].Parked != 1 {
		t.Errorf("%+v, %v", j, err)
	}
}
