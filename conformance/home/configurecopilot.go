package home

import (
	"path/filepath"
	"testing"
)

// LongKey is the credential where a short one would do harm: copilot hides it wherever it finds it in its output.
const LongKey = "loopback-9f2c41d7"

func copilot(t testing.TB, h Home, url string, state State) []string {
	onlyKeys(t, h.Name, state)
	env := []string{
		"COPILOT_OFFLINE=true", "COPILOT_MODEL=m1",
		// At its first start it unpacks 235 MB. All homes share them.
		"COPILOT_PKG_CACHE_HOME=" + filepath.Join(filepath.Dir(filepath.Dir(h.Binary)), ".cache", "copilot"),
	}
	if state == LoggedIn {
		return append(env, "COPILOT_PROVIDER_BASE_URL="+url+"/v1", "COPILOT_PROVIDER_API_KEY="+LongKey)
	}
	return env[1:] // offline it would ask for a provider, not for a login
}
