package openai

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/clichain/clichain/openai/internal/apierror"
)

// preflightHeaders answer the preflight request of a page with an allowed origin.
var preflightHeaders = map[string]string{
	"Access-Control-Allow-Methods":         "GET, POST",
	"Access-Control-Max-Age":               "600",
	"Access-Control-Allow-Private-Network": "true",
}

// exposedHeaders are the headers that such a page can read.
const exposedHeaders = backendHeader + ", " + attemptsHeader + ", " + ignoredHeader + ", X-Request-Id, Retry-After"

// access decides which requests the handler answers.
type access struct{ config *Config }

// guard refuses requests that do not come from a program of this machine.
func (a *access) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limitRead(w)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Add("Vary", "Origin")
		if err := a.checkOrigin(r); err != nil {
			a.refuse(w, r, err)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Expose-Headers", exposedHeaders)
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				preflight(w, r)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// requireToken refuses requests without the token.
func (a *access) requireToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.checkToken(r); err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			a.refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (a *access) refuse(w http.ResponseWriter, r *http.Request, err *apierror.Error) {
	refused := endpoint(func(*reply, *http.Request) *apierror.Error { return err })
	refused.handler(a.config.Logger).ServeHTTP(w, r)
}

// checkOrigin refuses requests of web pages, under a host name that leads to this machine or from an origin that is not
// allowed.
func (a *access) checkOrigin(r *http.Request) *apierror.Error {
	if !isLoopback(r.Host) {
		return apierror.Invalid(http.StatusForbidden, "", "host_not_allowed",
			"this server is for requests to localhost, 127.0.0.1 or [::1]")
	}
	origins, sent := r.Header["Origin"]
	if sent && (len(origins) != 1 || !slices.Contains(a.config.AllowedOrigins, origins[0])) {
		return apierror.Invalid(http.StatusForbidden, "", "origin_not_allowed",
			"requests of web pages are refused: %s names the pages that may ask", a.config.fieldName("AllowedOrigins"))
	}
	return nil
}

// isLoopback reports whether the Host header of a request names this machine, with or without a port. An address with a
// zone does not: the zone can be any text, such as the name of another host.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else if inner, ok := strings.CutPrefix(host, "["); ok && strings.HasSuffix(inner, "]") {
		host = strings.TrimSuffix(inner, "]")
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Zone() == "" && ip.IsLoopback()
}

// checkToken refuses requests without the token. The time of the comparison does not depend on the token.
func (a *access) checkToken(r *http.Request) *apierror.Error {
	if a.config.Token == "" {
		return apierror.Invalid(http.StatusUnauthorized, "", "invalid_api_key",
			"the server has no token, and refuses all requests: set %s", a.config.fieldName("Token"))
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	want, got := sha256.Sum256([]byte(a.config.Token)), sha256.Sum256([]byte(strings.TrimSpace(given)))
	if strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(want[:], got[:]) == 1 {
		return nil
	}
	return apierror.Invalid(http.StatusUnauthorized, "", "invalid_api_key",
		"the token is missing or wrong: send the one in %s, as Authorization: Bearer TOKEN", a.config.fieldName("Token"))
}

func preflight(w http.ResponseWriter, r *http.Request) {
	for name, value := range preflightHeaders {
		w.Header().Set(name, value)
	}
	if wanted := r.Header.Get("Access-Control-Request-Headers"); wanted != "" {
		w.Header().Set("Access-Control-Allow-Headers", wanted)
	}
	w.WriteHeader(http.StatusNoContent)
}
