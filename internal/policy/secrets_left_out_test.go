package policy

import (
	"strings"
	"testing"

	"adze/internal/policy/programs"
	"adze/internal/text/redact"
)

// What a search is told to leave out is at least what is known for its secrets by its name.
func TestASearchLeavesOutWhatIsKnownForSecrets(t *testing.T) {
	stems := strings.Fields("a .env .netrc _netrc .pgpass .npmrc .pypirc .git-credentials .my.cnf .htpasswd .vault-token .dockercfg .dockerconfigjson .s3cfg " +
		".boto .terraformrc id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk credentials kubeconfig terraform pgpass secrets serviceaccountkey " +
		"client_secret client_secret_1 x-service-account x_service_account service-account service-account-1 x.tfvars x.tfstate config hosts prod")
	endings := strings.Fields("env pem key p12 pfx jks keystore kdbx ppk tfvars tfstate kubeconfig json backup rc conf yml yaml toml xml local production")
	known := 0
	for _, stem := range stems {
		names := []string{stem}
		for _, ending := range endings {
			names = append(names, stem+"."+ending)
		}
		for _, name := range names {
			if !redact.File("", name) {
				continue
			}
			if known++; !programs.LeftOut(name) {
				t.Errorf("%s is known for its secrets, and a search reads it", name)
			}
		}
	}
	if known < 300 {
		t.Errorf("only %d names are known", known)
	}
}
