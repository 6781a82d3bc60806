package proc

import (
	"crypto/rand"
	"os"
	"slices"
	"strings"
)

// CookieName is the environment variable that marks the processes of a run. It contains no word that programs
// take for the name of a secret, because they would remove such a variable from the environment of their
// children.
const CookieName = "CLICHAIN_RUN"

func newCookie() string { return hostID() + "." + rand.Text()[:16] }

// markEnv returns env with the cookie, and with PWD if dir is set. If this process belongs to a run, the cookie
// of that outer run comes first, so that the outer run finds the processes that the inner run leaves behind.
func markEnv(env []string, dir, cookie string) []string {
	if outer := os.Getenv(CookieName); outer != "" {
		cookie = outer + "," + cookie
	}
	marked := make([]string, 0, len(env)+2)
	marked = append(marked, CookieName+"="+cookie)
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if name != CookieName && (name != "PWD" || dir == "") {
			marked = append(marked, e)
		}
	}
	if dir != "" {
		marked = append(marked, "PWD="+dir)
	}
	return slices.Clip(marked)
}
