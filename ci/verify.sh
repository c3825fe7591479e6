#!/usr/bin/env bash
# Verifies one subject in CI and writes its reports; used by action.yml and by ci/gitlab.yml.
#
#   ASSAY_SUBJECT    questions, submissions, agents, or run
#   ASSAY_PATHS      what to verify, one per line
#   ASSAY_TARGET     questions only: what they are proven against
#   ASSAY_BASELINE   known findings that do not fail the job
#   ASSAY_ARGUMENTS  more arguments of the command, one per line
#   ASSAY_OUT        the folder of the run; reports go to $ASSAY_OUT.reports
#
# Ends with the exit code of the command.
set -uo pipefail

out=${ASSAY_OUT:-assay-run}
case ${ASSAY_SUBJECT:?is not set: questions, submissions, agents or run} in
  run) command=(assay run) ;;
  questions | submissions | agents) command=(assay "$ASSAY_SUBJECT" verify) ;;
  *) echo "ASSAY_SUBJECT is '$ASSAY_SUBJECT', not questions, submissions, agents or run" >&2; exit 2 ;;
esac
while IFS= read -r line; do
  [ -z "$line" ] || command+=("$line")
done <<< "${ASSAY_PATHS:-}"$'\n'"${ASSAY_ARGUMENTS:-}"
[ -z "${ASSAY_TARGET:-}" ] || command+=(--target "$ASSAY_TARGET")
[ -z "${ASSAY_BASELINE:-}" ] || command+=(--baseline "$ASSAY_BASELINE")
command+=(--out "$out" --report "junit=$out.reports/junit.xml" --report "html=$out.reports/report.html")
[ "$ASSAY_SUBJECT" != questions ] || command+=(--report "sarif=$out.reports/findings.sarif")

# A run of the same name from an earlier attempt would be refused.
mkdir -p "$out.reports"
"${command[@]}"
code=$?
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -e "$out/run.json" ]; then
  assay report "$out" --format github >> "$GITHUB_STEP_SUMMARY"
fi
[ -z "${GITHUB_OUTPUT:-}" ] || echo "exit-code=$code" >> "$GITHUB_OUTPUT"
exit "$code"
