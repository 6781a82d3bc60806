package reading

import (
	"fmt"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
)

// zone is a fixed time zone, so that no test depends on the machine's zone database.
var zone = time.FixedZone("home", 2*3600)

// resetNow is a Friday; 15:00 UTC is 17:00 in zone.
var resetNow = time.Date(2026, 11, 20, 17, 0, 30, 0, zone)

func home(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, zone) }

func utc(day, hour, minute int) time.Time {
	return time.Date(2026, 11, day, hour, minute, 0, 0, time.UTC)
}

func in(d time.Duration) time.Time { return resetNow.Add(d) }

func requireOneLine(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		require.False(t, unicode.IsControl(r) || r == '\u2028' || r == '\u2029', "%q in %q", r, text)
	}
}

func retryLine(status int, code string) string {
	return fmt.Sprintf(`{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":2000,"error_status":%d,"error":%q}`+"\n", status, code)
}

var retry429, retry529 = retryLine(429, "rate_limit"), retryLine(529, "overloaded")
