package wire

import (
	"net/http"
	"os"
	"testing"
)

// The proxy of the environment is read once by a process. Servers of tests are on this machine,
// which it does not serve.
func init() { _ = os.Setenv("HTTP_PROXY", "http://proxy.example:3128") }

// Amazon's and Google's credentials of machines and pods are never asked for through a proxy:
// whoever answers there would sign in for the user.
func TestCredentialsOfMachinesPassNoProxy(t *testing.T) {
	for address, want := range map[string]string{"http://169.254.170.2/c": "", "http://169.254.169.254/computeMetadata/v1/": "", "http://[fd00:ec2::23]/v1": "", "http://[fd00:ec2::254]/": "", "http://llm.example/v1": "proxy.example:3128"} {
		r, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		at, err := proxy(r)
		if err != nil || at == nil && want != "" || at != nil && at.Host != want {
			t.Errorf("%s: %v, %v", address, at, err)
		}
	}
}
