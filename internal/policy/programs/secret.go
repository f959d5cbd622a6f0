package programs

import (
	"path"
	"slices"
	"strings"
)

// SecretNames are the patterns of names that are known for secrets. They are wider than those that
// a read is asked about, since a search leaves out the example beside a secret too. Names that only
// their folder makes known are not among them.
func SecretNames() []string {
	return strings.Fields(".env .env.* *.env .netrc _netrc .pgpass .npmrc .pypirc .git-credentials .my.cnf .htpasswd .vault-token .dockercfg " +
		".dockerconfigjson .s3cfg .boto .terraformrc id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk credentials.json kubeconfig " +
		"terraform.rc pgpass.conf secrets.json secrets.yml secrets.yaml secrets.toml serviceaccountkey.json *.pem *.key *.p12 *.pfx *.jks " +
		"*.keystore *.kdbx *.ppk *.tfvars *.tfstate *.kubeconfig client_secret*.json *service-account.json *service_account.json *.tfvars.json " +
		"service-account*.json *.tfstate.backup")
}

// secretPlaces are those that their folder makes known.
func secretPlaces() []string {
	return strings.Fields(".kube/config .docker/config.json .aws/credentials .cargo/credentials .cargo/credentials.toml .gem/credentials " +
		".m2/settings.xml .oci/config gh/hosts.yml")
}

// LeftOut reports a name that leaveOut keeps a search from.
func LeftOut(name string) bool {
	return slices.ContainsFunc(SecretNames(), func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// leaveOut are the options under which a search of a tree meets no such file.
func leaveOut(program string) (options []string) {
	for _, name := range SecretNames() {
		switch program {
		case "grep":
			options = append(options, "--exclude="+name)
		case "rg":
			options = append(options, "--iglob=!"+name)
		}
	}
	if program == "rg" {
		options = append(options, "--no-config")
	}
	return options
}

// withoutSecrets are the path patterns under which git shows no such file.
func withoutSecrets() (specs []string) {
	for _, name := range slices.Concat(SecretNames(), secretPlaces()) {
		specs = append(specs, ":(top,exclude,icase,glob)**/"+name)
	}
	return specs
}
