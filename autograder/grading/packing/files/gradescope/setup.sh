#!/usr/bin/env bash
# Gradescope runs this once, as root, to build the image that it grades in.
set -euo pipefail
cd /autograder/source

# Learners' code runs as a user of its own, who must be able to read this environment.
environment=/opt/attention-grader

find_python() {
    for python in python3.1{4,3,2,1} python3; do
        if "$python" -c '
import ensurepip, sys
sys.exit(not (3, 11) <= sys.version_info < (3, 15))
' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    return 1
}

python=""
for package in "" python3-venv python3.11-venv; do
    if [ -n "$package" ]; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$package" || true
    fi
    python=$(find_python) && break
done
if [ -z "$python" ]; then
    echo "This grader needs Python 3.11 to 3.14. Choose a newer base image."
    exit 1
fi
"$python" -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --no-cache-dir -r requirements.txt
rm -r wheels  # one has the solutions
