# The controller's image: what npm pack packs, and Node.js. Nobody publishes it; docs/install.md says how to build it.

FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY bin ./bin
COPY deploy ./deploy
COPY scenarios ./scenarios
COPY scripts ./scripts
COPY src ./src
RUN node --input-type=module -e 'import { build } from "./scripts/build.mjs"; await build(process.cwd());' \
 && npm pack --ignore-scripts --pack-destination /tmp \
 && mkdir /fettle \
 && tar --extract --gzip --file /tmp/fettle-*.tgz --directory /fettle --strip-components 1

FROM node:24-slim
# Nothing is installed at run time, so that nothing that installs is left.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn*
COPY --from=build /fettle /fettle
# What is compiled is kept for whoever has compiled it.
RUN install --directory --owner 65532 --group 65532 /fettle/dist/compiled
ENV NODE_ENV=production
EXPOSE 8080
USER 65532:65532
RUN ["node", "/fettle/bin/fettle.mjs", "--version"]
ENTRYPOINT ["node", "/fettle/bin/fettle.mjs"]
CMD ["run"]
