package openai

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// authorized refuses a request without the token. How long the comparison takes tells nothing of it.
func (h *handler) authorized(r *http.Request) *apiError {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	want, got := sha256.Sum256([]byte(h.Token)), sha256.Sum256([]byte(strings.TrimSpace(given)))
	if h.Token != "" && strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(want[:], got[:]) == 1 {
		return nil
	}
	return mistake(http.StatusUnauthorized, "", "invalid_api_key",
		"the token is missing or wrong: send the one in the token file of clichain serve, as Authorization: Bearer TOKEN")
}
