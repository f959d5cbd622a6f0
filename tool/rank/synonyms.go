package rank

import "strings"

// groups are words that people use for one another when describing tools, one group a line. They
// are general: a thesaurus or a trade's vocabulary should confirm them, whatever the labels say. A
// word may be in several groups; words joined by _ are a phrase in the query.
const groups = `
create add make new open
delete remove erase drop destroy purge wipe clear discard
update change modify edit alter adjust
set configure assign
list show enumerate browse
get fetch retrieve read view show display
search find look lookup query locate discover
send post deliver submit dispatch
message msg dm chat
message text sms
mail email inbox
run execute invoke trigger launch
start launch begin boot
stop halt shut kill terminate end
restart reboot bounce
move rename
copy duplicate clone
bug defect issue ticket problem
pr pull merge
repo repository codebase
commit changeset
author blame wrote
file document
folder directory dir
image picture photo pic
resize scale shrink enlarge
convert transform turn
weather forecast rain temperature sunny snow
directions route navigate drive way
place location venue spot
address location coordinates
nearby near close around
restaurant cafe food eat dinner lunch
calendar schedule agenda
event meeting appointment call
free available availability busy slot
reschedule postpone move
remind reminder
task todo
person people user member contact
colleague teammate coworker member
channel room
phone call dial ring
pay payment charge
refund reimburse
invoice bill
customer client buyer
subscription plan membership
price cost quote
currency money exchange dollar euro
stock share ticker equity
crypto bitcoin coin ethereum
database db sql postgres mysql
column field
row record entry
schema structure layout
slow latency performance sluggish
error exception crash failure fail
log output trace
metric chart graph statistic
alert alarm page incident outage
downtime outage incident
deploy release ship rollout publish
rollback revert undo
build compile ci
pipeline workflow job
test spec
pod container workload
kubernetes k8s kubectl cluster
node machine host server vm instance
replica scale instance
bucket s3 storage blob object
upload put
download save pull
secret password credential
permission access role right grant
user account login
domain dns
certificate tls ssl cert https
website page site web
url link address
click press tap
type fill enter input
screenshot capture snapshot
summarize summary digest brief gist
translate language
transcribe transcript speech audio recording
speak speech voice aloud tts
song music track tune
playlist album
video clip movie film
news article headline
flight fly plane airline
hotel accommodation lodging stay
book reserve reservation
parcel package shipment delivery
track status progress
order purchase buy
cart basket
product item article
inventory stock
compress zip archive
extract unzip decompress unpack
hash checksum digest
random dice
time clock hour
calculate compute math sum
spreadsheet sheet excel
slide presentation deck
note page memo
wiki documentation docs knowledge
lead prospect
deal opportunity
campaign newsletter
react reaction emoji
comment reply respond answer
subscribe subscription
label tag
close resolve finish complete done
approve accept
diff difference compare change
history past previous
recent latest newest last
disk space storage
memory ram
cpu load
process pid
light lamp bulb
thermostat heat temperature
employee staff worker
salary payroll wage
vacation leave pto holiday absence
candidate applicant
notify notification alert tell
share give invite
invite add
draft compose write
write save
unread new
forward pass
snooze mute silence
visibility public private
environment env variable
config configuration setting
function lambda
queue topic
cache redis memcached
backup snapshot dump
restore recover
migrate migration
index indexes
explain plan
vulnerability cve security
dependency library package
version release tag
license licence
format lint tidy
rename refactor
definition declaration
reference usage caller
symbol function class
autoscale scale
bill cost spend
quota limit
region zone
network subnet vpc
rotate renew
sprint iteration
epic story
estimate point
priority severity urgent
assign owner assignee
board kanban
due deadline
timezone time
distance far
traffic congestion
air quality pollution
recipe cook
calorie nutrition
workout exercise run
sleep rest
heart pulse
delete get_rid throw_away throw_out
stop turn_off switch_off shut_down power_off
start turn_on switch_on power_on
search find look_for look_up look_through look_into
create set_up
start kick_off spin_up
cancel call_off
move reschedule put_off push_back
note record write_down jot_down take_down
revert undo go_back roll_back
restore bring_back
wait hold_on
login log_in sign_in
register sign_up
pickup pick_up
assign hand_over
crop cut_out
type fill_in
history summary catch_up
speak speech out_loud read_aloud
play put_on
expire expiry run_out
price amount cost balance how_much
count how_many
duration time how_long
distance how_far
size how_big
author who_wrote
person people owner who
time date when
location path where
date day tomorrow today yesterday tonight
date day monday tuesday wednesday thursday friday saturday sunday weekend
date january february march april june july august september october november december
`

type thesaurus map[string][][]string

// synonymsOf returns the groups for some stems. A query has few, and laying out all groups would
// take longer than searching for these.
func synonymsOf(wanted map[string]bool) thesaurus {
	out := thesaurus{}
	for line := range strings.Lines(groups) {
		var group []string
		for w := range strings.FieldsSeq(line) {
			from := stemPhrase(w)
			if !wanted[from] {
				continue
			}
			if group == nil {
				group = strings.Fields(line)
				for i, other := range group {
					group[i] = stemPhrase(other)
				}
			}
			out[from] = append(out[from], group)
		}
	}
	return out
}

// of lists the stems that may stand for term.
func (t thesaurus) of(term string) (out []string) {
	for _, group := range t[term] {
		for _, other := range group {
			if other != term && !strings.Contains(other, "_") {
				out = append(out, other)
			}
		}
	}
	return out
}

// stemPhrase stems each word in a phrase: "turned_off" is turn_off.
func stemPhrase(p string) string {
	first, second, ok := strings.Cut(p, "_")
	if !ok {
		return stem(p)
	}
	return stem(first) + "_" + stem(second)
}
