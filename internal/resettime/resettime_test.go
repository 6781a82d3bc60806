package resettime

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const longestRest = 8 * 24 * time.Hour

// zone is fixed, so that no test depends on the machine's time zone database.
var zone = time.FixedZone("home", 2*3600)

// resetNow is a Friday. 15:00 UTC is 17:00 in zone.
var resetNow = time.Date(2026, 11, 20, 17, 0, 30, 0, zone)

func home(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, zone) }

func utc(day, hour, minute int) time.Time {
	return time.Date(2026, 11, day, hour, minute, 0, 0, time.UTC)
}

func in(d time.Duration) time.Time { return resetNow.Add(d) }

func TestResetTime(t *testing.T) {
	for _, test := range resetWords {
		t.Run(test.words, func(t *testing.T) {
			got := Read(test.words, resetNow)
			require.True(t, test.want.Equal(got), "%q: got %v, want %v", test.words, got, test.want)
		})
	}
}

// Zone names also work on machines without time zone files, such as small containers and Windows.
func TestZonesAreEmbedded(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "moment.go", nil, parser.ImportsOnly)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"time/tzdata"` }))
}

func TestResetTimeInNamedZones(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	require.NoError(t, err)
	for words, want := range map[string]time.Time{
		"You've hit your limit · resets 2am (Asia/Shanghai)": time.Date(2026, 11, 21, 2, 0, 0, 0, shanghai),
		"You've hit your limit · resets 2pm (Asia/Shanghai)": time.Date(2026, 11, 21, 14, 0, 0, 0, shanghai),
		"resets Nov 22 3pm America/Argentina/Buenos_Aires":   utc(22, 18, 0),
		"resets 11pm PT":           utc(21, 7, 0),
		"resets 11pm (Etc/GMT-3).": utc(20, 20, 0),
		"Weekly limit reached ∙ resets Mon 12:00 AM (Europe/Paris)": utc(22, 23, 0),
	} {
		got := Read(words, resetNow)
		require.True(t, want.Equal(got), "%q: got %v, want %v", words, got, want)
	}
}

// A day has 23 or 25 hours when daylight saving time begins or ends.
func TestResetTimeWithDaylightSaving(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	require.NoError(t, err)
	eve := time.Date(2026, 10, 24, 20, 0, 0, 0, paris)
	require.Equal(t, 24*time.Hour, Read("resets 7pm", eve).Sub(eve))
	eve = time.Date(2026, 3, 28, 20, 0, 0, 0, paris)
	require.Equal(t, 22*time.Hour, Read("resets 7pm", eve).Sub(eve))
}

// A formatted time is parsed to the same time.
func TestResetTimeRoundTrips(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, layout := range []string{
		time.RFC3339Nano, time.RFC3339, time.RFC1123, time.RFC1123Z, time.DateTime, "Jan 2, 3:04pm (MST)", "Jan 2 2006 15:04 MST",
		"Monday at 3:04 PM -0700", "1/2/2006 15:04:05", "2 January 2006 15:04:05.000 -07:00", "02.01.2006 15:04", "2006-01-02 15:04:05.999999999 -0700 MST", "3:04:05 PM",
	} {
		for range 50 {
			want, now := time.Unix(resetNow.Unix()+60+r.Int64N(24*3600-120), 0).UTC(), resetNow.UTC()
			text := want.Format(layout)
			got := Read("resets "+text, now)
			require.Less(t, got.Sub(want).Abs(), time.Minute, "%s: %s", layout, text)
			require.Equal(t, text, got.Format(layout), layout)
			require.True(t, got.Equal(Read("resets "+got.Format(layout), now)), "idempotent: %s", text)
		}
	}
	for range 200 {
		d := time.Duration(1+r.Int64N(longestRest.Microseconds())) * time.Microsecond
		require.Equal(t, d, Read("try again in "+d.String()+".", resetNow).Sub(resetNow), "%v", d)
		unix := resetNow.Add(d).UnixMilli()
		require.Equal(t, unix, Read(strconv.FormatInt(unix, 10), resetNow).UnixMilli())
	}
}

// A longer duration gives a later result, and so does a later now.
func TestResetTimeIsMonotone(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		a, b := r.Int64N(20*86400), r.Int64N(20*86400)
		a, b = min(a, b), max(a, b)
		for _, form := range []func(s int64) string{
			func(s int64) string { return fmt.Sprintf("try again in %d seconds", s) },
			func(s int64) string {
				return fmt.Sprintf("%d days %d hours %d minutes", s/86400, s%86400/3600, s%3600/60)
			},
			func(s int64) string { return fmt.Sprintf("Retry-After: %d", s) },
			func(s int64) string { return fmt.Sprintf("limit reached|%d", resetNow.Unix()-86400+s) },
			func(s int64) string {
				return "resets " + resetNow.Add(time.Duration(s)*time.Second).Format(time.RFC3339)
			},
		} {
			require.False(t, Read(form(a), resetNow).After(Read(form(b), resetNow)), "%s, %s", form(a), form(b))
		}
	}
	for _, test := range resetWords {
		before := Read(test.words, resetNow)
		for range 5 {
			later := Read(test.words, resetNow.Add(time.Duration(r.Int64N(int64(400*24*time.Hour)))))
			require.Equal(t, before.IsZero(), later.IsZero(), test.words)
			require.False(t, later.Before(before), test.words)
		}
	}
}

func FuzzResetTime(f *testing.F) {
	for _, test := range resetWords {
		f.Add(test.words, resetNow.Unix())
	}
	f.Fuzz(func(t *testing.T, words string, unix int64) {
		now := time.Unix(unix%(1<<36), 0).UTC()
		got := Read(words, now)
		if got.IsZero() {
			return
		}
		require.False(t, got.Before(now), "%v", got)
		require.False(t, got.After(now.Add(longestRest)), "%v", got)
		require.True(t, got.Equal(Read(words, now)), "told twice")
		require.True(t, got.Equal(Read(got.Format(time.RFC3339Nano), now)) || got.Year() < 1 || got.Year() > 9999, "written and read again")
	})
}
