package proc

import (
	"crypto/rand"
	"os"
	"slices"
	"strings"
	"sync"
)

// CookieName is the environment variable that marks the processes of a run. It contains no word that programs
// take for the name of a secret, because they would remove such a variable from the environment of their
// children.
const CookieName = "CLICHAIN_RUN"

func newCookie() string { return hostID() + "." + rand.Text()[:16] }

// markEnv returns env with the cookie, and with PWD if dir is set. If this process belongs to a run, the cookie
// of that outer run comes first, so that the outer run finds the processes that the inner run leaves behind.
func markEnv(env []string, dir, cookie string) []string {
	if outer := outerCookie(); outer != "" {
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

// Depth returns the number of runs that contain this process.
func Depth() int {
	cookie := outerCookie()
	if cookie == "" {
		return 0
	}
	return strings.Count(cookie, ",") + 1
}

// outerCookie returns the cookie of the run that this process belongs to, or "". Some CLIs do not pass their
// environment to the programs that they start, so the cookie may be only in that of a parent process.
func outerCookie() string {
	if cookie := os.Getenv(CookieName); cookie != "" {
		return cookie
	}
	return inheritedCookie()
}

// inheritedCookie is ancestorCookie. The parent processes that have a cookie do not change.
var inheritedCookie = sync.OnceValue(ancestorCookie)
