package serve_test

import (
	"encoding/json"
	"testing"

	"adze/internal/editors/pairing"
)

// TestAPhoneIsPairedInABrowser: the page of a code shows the word, waits for the user's answer, and
// then the list of sessions is there, also after a reload; a device that was revoked sees none.
func TestAPhoneIsPairedInABrowser(t *testing.T) {
	b := newBrowser(t)
	h := sceneHouse()
	far := listenFar(t, h)
	page := b.open(far.url)
	b.call(page.id, "Security.setIgnoreCertificateErrors", map[string]any{"ignore": true})
	b.call(page.id, "Emulation.setDeviceMetricsOverride", map[string]any{"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": true})
	code, text := far.get("POST", "/api/pair", `{"may":["look","answer"]}`)
	var o pairing.Opened
	if err := json.Unmarshal([]byte(text), &o); err != nil || code != 201 {
		t.Fatalf("%d %s", code, text)
	}
	b.call(page.id, "Page.navigate", map[string]any{"url": o.Address})
	page.until(`document.getElementById("code")?.value === "` + o.Code + `" && document.activeElement.id === "name"`)
	if at := page.eval(`location.href`); at != far.address+"/pair" {
		t.Errorf("the code is still in the address: %s", at)
	}
	if wide := page.eval(`document.documentElement.scrollWidth <= 360`); wide != "true" {
		t.Error("the page is wider than a phone")
	}
	page.eval(`document.getElementById("name").value = ""`)
	b.call(page.id, "Input.insertText", map[string]any{"text": "my phone"})
	page.key("Enter")
	page.until(`document.getElementById("word").textContent.length > 3 && document.getElementById("state").textContent.includes("Waiting")`)
	var claim struct{ Name, Word string }
	code, text = far.get("GET", "/api/pair/claim", "")
	if err := json.Unmarshal([]byte(text), &claim); err != nil || code != 200 || claim.Name != "my phone" || claim.Word != page.eval(`document.getElementById("word").textContent`) {
		t.Fatalf("the user sees %d %s", code, text)
	}
	if code, text := far.get("POST", "/api/pair/decide", `{"allow":true}`); code != 204 {
		t.Fatalf("%d %s", code, text)
	}
	page.until(`document.querySelector("#homelist .welcome, #list a")`)
	b.call(page.id, "Page.reload", map[string]any{})
	page.until(`document.querySelector("#homelist .welcome, #list a")`)
	if broken := page.eval(`JSON.stringify(window.broken)`); broken != "[]" {
		t.Errorf("the page complains: %s", broken)
	}
	all, err := far.devices.All()
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if _, err := far.devices.Revoke(all[0].ID); err != nil {
		t.Fatal(err)
	}
	page.until(`document.body.innerText.includes("not paired any more")`)
}
