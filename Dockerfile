# syntax=docker/dockerfile:1

# The version is that of the package `node` in package.json; test/deploy compares them.
FROM node:24.21.0-trixie-slim AS base
WORKDIR /app
ENV NODE_ENV=production

FROM base AS build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev --ignore-scripts
COPY . .
# Not by `npm run`, which would use the package `node`, whose install script has not run.
RUN node scripts/build.mjs

FROM base AS packages
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts

FROM base
LABEL org.opencontainers.image.title="paygraph" \
      org.opencontainers.image.description="A GraphQL gateway in front of a REST payments and payouts service" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=packages /app/node_modules ./node_modules
COPY package.json ./
COPY bin ./bin
COPY --from=build /app/dist ./dist
# The defaults of the settings are below data/. DATABASE_URL here would conflict with DATABASE_URL_FILE.
RUN mkdir -m 0700 /data && chown 10001:10001 /data && ln -s /data data
# HOST: without keys or tokens the gateway does not start on it.
# The compile cache would be outside /data and lost with the container.
# HOME: the user has no entry in /etc/passwd, and a package needs it.
ENV HOST=0.0.0.0 \
    NODE_DISABLE_COMPILE_CACHE=1 \
    HOME=/data
USER 10001:10001
VOLUME /data
EXPOSE 4000
STOPSIGNAL SIGTERM
# bash with /dev/tcp, as the image has no curl; a second Node.js would cost 80 ms of CPU and 60 MB every ten seconds.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --start-interval=1s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${PORT:-4000} && printf 'GET /healthz HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && read -r -t 2 _ status _ <&3 && [ \"$status\" = 200 ]"]
ENTRYPOINT ["node", "--max-semi-space-size=64", "bin/paygraph.mjs"]
CMD ["start"]
