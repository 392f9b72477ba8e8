set -e
[ -f build/build.ninja ] || cmake -B build -G Ninja -DFLEDGE_TESTS=ON -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >/tmp/ops_cfg.log 2>&1 || { tail -20 /tmp/ops_cfg.log; exit 1; }
cmake --build build --target tests32 2>&1 | grep -vE "^\[[0-9]+/[0-9]+\]" | head -60
