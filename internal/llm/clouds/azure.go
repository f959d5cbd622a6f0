package clouds

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"adze/internal/llm/wire"
)

// Entra returns the tokens of Azure's default chain of credentials.
func Entra(env Env) *Tokens {
	const scope = "https://cognitiveservices.azure.com/.default"
	return NewTokens(env, "cannot sign in to Azure", func(ctx context.Context) (Token, error) {
		const next = "az login, or set AZURE_OPENAI_API_KEY to a key of the resource"
		// Repetitions are the session's, which shows them.
		options := azidentity.DefaultAzureCredentialOptions{DisableInstanceDiscovery: true,
			ClientOptions: azcore.ClientOptions{Transport: wire.HTTP(env.HTTP), Retry: policy.RetryOptions{MaxRetries: 1}}}
		chain, err := azidentity.NewDefaultAzureCredential(&options)
		if err != nil {
			return Token{}, hinted{err, next}
		}
		token, err := chain.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{scope}})
		if err != nil {
			if _, tried, listed := strings.Cut(err.Error(), "Attempted credentials:"); listed {
				if _, az, asked := strings.Cut(tried, "AzureCLICredential: "); asked { // no other one was set up
					tried, _, _ = strings.Cut("az: "+az, "\n")
				}
				err = errors.New(strings.Join(strings.Fields(tried), " "))
			}
			return Token{}, hinted{err, next}
		}
		return Token{token.Token, token.ExpiresOn}, nil
	})
}

// Azure returns the door to an Azure resource: with a key, else with Entra's tokens. A version of
// the API selects the older addresses, where a model's name is that of a deployment.
func Azure(env Env, key, version string) wire.Door {
	var d wire.Door
	if key != "" {
		d = Key("Api-Key", "", key)
	} else {
		d = Entra(env).Bearer("Authorization", "Bearer ")
	}
	if version != "" {
		d.Query = url.Values{"api-version": {version}}
		d.Path = func(model, path string) string { return "/openai/deployments/" + url.PathEscape(model) + path }
	}
	return d
}
