package home

import (
	"path/filepath"
	"testing"
)

// LongKey is the credential for CLIs that a short key would disturb: copilot redacts it wherever its output contains
// it.
const LongKey = "loopback-9f2c41d7"

func copilot(t testing.TB, h Home, url string, state State) []string {
	onlyKeys(t, h.Name, state)
	env := []string{
		"COPILOT_OFFLINE=true", "COPILOT_MODEL=m1",
		// At its first start the CLI unpacks 235 MB. All homes share the result.
		"COPILOT_PKG_CACHE_HOME=" + filepath.Join(filepath.Dir(filepath.Dir(h.Binary)), ".cache", "copilot"),
	}
	if state == LoggedIn {
		return append(env, "COPILOT_PROVIDER_BASE_URL="+url+"/v1", "COPILOT_PROVIDER_API_KEY="+LongKey)
	}
	return env[1:] // offline, the CLI would ask for a provider instead of a login
}
