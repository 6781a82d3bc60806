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

// zone is a fixed one, so that no test depends on the machine's zone database.
var zone = time.FixedZone("home", 2*3600)

// resetNow is a Friday; 15:00 UTC is 17:00 at home.
var resetNow = time.Date(2026, 11, 20, 17, 0, 30, 0, zone)

func home(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, zone) }

func utc(day, hour, minute int) time.Time {
	return time.Date(2026, 11, day, hour, minute, 0, 0, time.UTC)
}

func in(d time.Duration) time.Time { return resetNow.Add(d) }

// resetWords are what backends say, and times that they could say.
var resetWords = []struct {
	words string
	want  time.Time
}{
	// epochs
	{"1795300000", time.Unix(1795300000, 0)},
	{"1795300000000", time.Unix(1795300000, 0)},
	{"1795300000.5", time.Unix(1795300000, 0)},
	{"Claude AI usage limit reached|1795300000", time.Unix(1795300000, 0)},
	{"Claude AI usage limit reached|1795300000000", time.Unix(1795300000, 0)},
	{`{"type":"usage_limit_reached","plan_type":"plus","resets_at":1795300000}`, time.Unix(1795300000, 0)},
	{`"X-RateLimit-Reset":"1795300000000"`, time.Unix(1795300000, 0)},
	{"resetsAt: 1795300000,", time.Unix(1795300000, 0)},
	{"Claude AI usage limit reached|1762952400", resetNow}, // it has passed
	{"9999999999999", in(longestRest)},

	// words of their own
	{"You will regain access on 2026-11-25 at 00:00 UTC.", utc(25, 0, 0)},
	{"Spending cap reached resets 5pm", resetNow}, // this minute

	// durations
	{"5h12m3s", in(5*time.Hour + 12*time.Minute + 3*time.Second)},
	{"You have exhausted your capacity on this model. Your quota will reset after 5h12m3s.", in(5*time.Hour + 12*time.Minute + 3*time.Second)},
	{"2 days 17 hours 14 minutes", in(65*time.Hour + 14*time.Minute)},
	{"Upgrade to Pro (https://example.com) or try again in 2 days 17 hours 14 minutes.", in(65*time.Hour + 14*time.Minute)},
	{"try again in 1 day, 2 hours and 3 minutes", in(26*time.Hour + 3*time.Minute)},
	{"Please try again in 1.5s.", in(1500 * time.Millisecond)},
	{"Please try again in 20ms. Visit https://example.com to learn more.", in(20 * time.Millisecond)},
	{"try again in 7m12.345s", in(7*time.Minute + 12345*time.Millisecond)},
	{"Please retry in 38.4s.", in(38400 * time.Millisecond)},
	{`"retryDelay": "38s"`, in(38 * time.Second)},
	{`\"retryDelay\": \"38.5s\"`, in(38500 * time.Millisecond)},
	{"30 seconds", in(30 * time.Second)},
	{"in 3 hours", in(3 * time.Hour)},
	{"~ 20 min", in(20 * time.Minute)},
	{"~20 mins", in(20 * time.Minute)},
	{"resets in about 2 hrs", in(2 * time.Hour)},
	{"approx. 4 hr", in(4 * time.Hour)},
	{"retry after 30 seconds", in(30 * time.Second)},
	{"wait 2 minutes before trying again", in(2 * time.Minute)},
	{"try again in an hour", in(time.Hour)},
	{"try again in half an hour", in(30 * time.Minute)},
	{"try again in less than a minute", in(time.Minute)},
	{"try again in one day", in(24 * time.Hour)},
	{"renews in 2w", in(longestRest)},
	{"renews in 1 week", in(7 * 24 * time.Hour)},
	{"resets in 1 month", in(longestRest)},
	{"resets in 01:02:03", in(time.Hour + 2*time.Minute + 3*time.Second)},
	{"x-ratelimit-reset-tokens: 6m0s", in(6 * time.Minute)},
	{"resets in PT5H12M", in(5*time.Hour + 12*time.Minute)},
	{" 30 s ", in(30 * time.Second)},
	{"try again at about 1h 5m from now", in(65 * time.Minute)},
	{"resetsInSeconds: 90", in(90 * time.Second)},
	{"try again in 99999999999999999999999 years and 5 days", time.Time{}},
	{"try again in 99999999999999999999999 days", in(longestRest)},
	{"5-hour limit reached ∙ resets in 10 min", in(10 * time.Minute)},
	{"5 hour limit reached ∙ resets in 10 min", in(10 * time.Minute)},

	// bare numbers
	{"30", in(30 * time.Second)},
	{"1.5", in(1500 * time.Millisecond)},
	{"Retry-After: 120", in(2 * time.Minute)},
	{"retry-after-ms: 1500", in(1500 * time.Millisecond)},
	{"retryAfterMs=1500;", in(1500 * time.Millisecond)},
	{`"resets_in_seconds":3600}`, in(time.Hour)},
	{`{"resets_in_seconds": 3600, "x": 1}`, in(time.Hour)},
	{"retry after 30.", in(30 * time.Second)},

	// times of day
	{"2pm", home(21, 14, 0)},
	{"2 PM", home(21, 14, 0)},
	{"9 p.m.", home(20, 21, 0)},
	{"resets 9pm", home(20, 21, 0)},
	{"resets at 9:30 p.m. today", home(20, 21, 30)},
	{"5-hour limit reached ∙ resets 7pm", home(20, 19, 0)},
	{"Your limit will reset at 7pm (UTC).", utc(20, 19, 0)},
	{"try again at 10:26 PM.", home(20, 22, 26)},
	{"try again at 10:26\u202fPM.", home(20, 22, 26)},
	{"try again at 22:26", home(20, 22, 26)},
	{"resets 22:26:30.001", home(20, 22, 26).Add(30001 * time.Millisecond)},
	{"resets 22:26:30", home(20, 22, 26).Add(30 * time.Second)},
	{"resets 12am", home(21, 0, 0)},
	{"resets 12pm", home(21, 12, 0)},
	{"resets 12:30am", home(21, 0, 30)},
	{"resets 24:00", home(21, 0, 0)},
	{"resets at midnight UTC", utc(21, 0, 0)},
	{"resets at noon", home(21, 12, 0)},
	{"resets daily at 00:00 UTC", utc(21, 0, 0)},
	{"resets 17:00", resetNow}, // this minute
	{"resets 16:59", home(21, 16, 59)},
	{"Access resets at 11:30 PM GMT+1.", utc(20, 22, 30)},
	{"Access resets at 3:04 PM PST.", utc(20, 23, 4)},
	{"resets 11pm (UTC+05:30)", utc(20, 17, 30)},
	{"resets 11pm −0800", utc(21, 7, 0)},
	{"resets 11pm (Nowhere/Atlantis)", home(20, 23, 0)},
	{"resets 9pm and more", home(20, 21, 0)},
	{"resets 9pm UTC+99", home(20, 21, 0)},

	// days and dates
	{"You've hit your limit · resets Nov 21, 10:26pm (UTC)", utc(21, 22, 26)},
	{"You’ve hit your usage limit. Visit https://example.com or try again at Nov 21st, 2026 10:26 PM.", home(21, 22, 26)},
	{"resets Nov 21 at 9am", home(21, 9, 0)},
	{"resets 21 Nov 2026 22:26", home(21, 22, 26)},
	{"resets 21st of November, 10pm", home(21, 22, 0)},
	{"resets on November 25", home(25, 0, 0)},
	{"Nov 20th, 2026 6:04 PM", home(20, 18, 4)},
	{"Nov 20th, 2026 3:04 PM", resetNow}, // it has passed
	{"Your usage limits will reset when your monthly cycle ends on 11/17/2025.", resetNow},
	{"Your usage limits will reset when your monthly cycle ends on 11/22/2026.", home(22, 0, 0)},
	{"resets 22/11/2026", home(22, 0, 0)},
	{"resets 11/22/26 3pm", home(22, 15, 0)},
	{"resets 22.11.2026 15:00", home(22, 15, 0)},
	{"resets 2026/11/22", home(22, 0, 0)},
	{"resets 2026-11-21T22:26:00Z", utc(21, 22, 26)},
	{"2026-11-21T22:26:00.123456789-08:00", utc(22, 6, 26).Add(123456789)},
	{"2026-11-21 22:26:00 +0000 UTC", utc(21, 22, 26)},
	{`"quotaResetTimeStamp": "2026-11-21T22:26:00Z"`, utc(21, 22, 26)},
	{"Retry-After: Sat, 21 Nov 2026 22:26:00 GMT", utc(21, 22, 26)},
	{"resets Sat 10am", home(21, 10, 0)},
	{"resets Monday", home(23, 0, 0)},
	{"resets next Monday at 9am (UTC)", utc(23, 9, 0)},
	{"resets Fri 6pm", home(20, 18, 0)},
	{"resets Friday 4pm", home(27, 16, 0)},
	{"resets Thurs. 4pm", home(26, 16, 0)},
	{"resets tomorrow", home(21, 0, 0)},
	{"resets tomorrow at 3pm", home(21, 15, 0)},
	{"resets today 3pm", resetNow},
	{"resets tonight", home(21, 0, 0)},
	{"resets 9pm tonight", home(20, 21, 0)},
	{"resets Dec 25", in(longestRest)},
	{"resets Jan 2, 9am", in(longestRest)},
	{"resets Oct 2, 9am", resetNow},
	{"resets 31 Feb 2027", in(longestRest)},
	{"resets 13/45/2027", in(longestRest)},
	{"resets 9999-99-99T99:99", in(longestRest)},

	// nothing
	{"", time.Time{}},
	{"soon", time.Time{}},
	{"try again later", time.Time{}},
	{"try again in a few minutes", time.Time{}},
	{"resets every 5 hours", time.Time{}},
	{"lines 418-429", time.Time{}},
	{"retry 1/5", time.Time{}},
	{"Reconnecting... 1/5", time.Time{}},
	{"HTTP 429: slow down", time.Time{}},
	{": 429", time.Time{}},
	{"resets at 7", time.Time{}},
	{"resets 25:00", time.Time{}},
	{"5 apples", time.Time{}},
	{"5 hour limit", time.Time{}},
	{"limited to 5 m tokens", time.Time{}},
	{"resets may be delayed", time.Time{}},
	{"12345678901234567890", time.Time{}},
	{"\xff\xfe", time.Time{}},
	{"resets in 0s", time.Time{}},
	{"Retry-After: 0", time.Time{}},
	{"-5s", time.Time{}},
	{"resets in -5s", time.Time{}},
	{"-1", time.Time{}},
	{"NaN", time.Time{}},
	{"1e300", time.Time{}},
}

func TestResetTime(t *testing.T) {
	for _, test := range resetWords {
		t.Run(test.words, func(t *testing.T) {
			got := Read(test.words, resetNow)
			require.True(t, test.want.Equal(got), "%q: got %v, want %v", test.words, got, test.want)
		})
	}
}

// Names of zones work on a machine that has no files about them, as small
// containers and Windows.
func TestZonesAreInTheProgram(t *testing.T) {
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

// Where summer begins and ends, a day has 23 or 25 hours.
func TestResetTimeWhenClocksChange(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	require.NoError(t, err)
	eve := time.Date(2026, 10, 24, 20, 0, 0, 0, paris)
	require.Equal(t, 24*time.Hour, Read("resets 7pm", eve).Sub(eve))
	eve = time.Date(2026, 3, 28, 20, 0, 0, 0, paris)
	require.Equal(t, 22*time.Hour, Read("resets 7pm", eve).Sub(eve))
}

// A time that is written and read again is the same.
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

// The longer the words say, the later; and the later it is, the later.
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
