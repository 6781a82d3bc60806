package home

import "testing"

func kimi(t testing.TB, h Home, url string, state State) []string {
	onlyKeys(t, h.Name, state)
	env := []string{"KIMI_DISABLE_TELEMETRY=1", "KIMI_CODE_NO_AUTO_UPDATE=1"}
	if state == LoggedIn {
		env = append(env, "KIMI_MODEL_BASE_URL="+url+"/v1", "KIMI_MODEL_NAME=m1", "KIMI_MODEL_API_KEY="+Key)
	}
	return env
}
